//! The `#[kernel]` attribute of Rust-CUDA's `cuda_std`, over rustc's own NVPTX backend.

use proc_macro::TokenStream;
use quote::quote;
use syn::{ItemFn, parse_macro_input, parse_quote};

/// Makes a function an entry of the PTX module, under its own name.
///
/// The function must be `unsafe` (its pointers get their meaning from the launch) and return nothing; its crate needs
/// `#![feature(abi_ptx)]` on the device.
#[proc_macro_attribute]
pub fn kernel(_options: TokenStream, item: TokenStream) -> TokenStream {
    let mut function = parse_macro_input!(item as ItemFn);
    if function.sig.unsafety.is_none() {
        return syn::Error::new_spanned(&function.sig, "a kernel must be an `unsafe fn`")
            .into_compile_error()
            .into();
    }
    function.sig.abi = Some(parse_quote!(extern "ptx-kernel"));
    quote! {
        #[unsafe(no_mangle)]
        #function
    }
    .into()
}
