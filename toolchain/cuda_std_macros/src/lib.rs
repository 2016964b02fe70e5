//! The `#[kernel]` attribute of Rust-CUDA's `cuda_std`, over rustc's own NVPTX backend.

use proc_macro::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::{ItemFn, LitInt, Safety, Token, parse_macro_input, parse_quote};

/// Makes a function an entry of the PTX module, under its own name.
///
/// The function must be `unsafe` (the launch gives its pointers their meaning) and return nothing; its crate needs
/// `#![feature(abi_ptx)]` on the device.
///
/// `#[kernel(registers = 64)]` is PTX's `.maxnreg 64`: the assembler may use up to this number of registers for a
/// thread, so that more of its reads are in flight. Without it the assembler uses fewer, for more threads at a time.
/// The limit passes through rustc as the function's section, which cuda_builder turns into LLVM's attribute.
#[proc_macro_attribute]
pub fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut function = parse_macro_input!(item as ItemFn);
    let registers = match registers(options) {
        Ok(registers) => registers.map(|registers| format!(".maxnreg {registers}")),
        Err(error) => return error.into_compile_error().into(),
    };
    let section = registers.map(|section| quote!(#[unsafe(link_section = #section)]));
    if !matches!(function.sig.safety, Safety::Unsafe(_)) {
        return syn::Error::new_spanned(&function.sig, "a kernel must be an `unsafe fn`")
            .into_compile_error()
            .into();
    }
    function.sig.abi = Some(parse_quote!(extern "ptx-kernel"));
    quote! {
        #[unsafe(no_mangle)]
        #section
        #function
    }
    .into()
}

/// The number of `registers = 64`, if there are options.
fn registers(options: TokenStream) -> syn::Result<Option<u32>> {
    if options.is_empty() {
        return Ok(None);
    }
    let option = |input: syn::parse::ParseStream| {
        let name: syn::Ident = input.parse()?;
        if name != "registers" {
            return Err(syn::Error::new(name.span(), "write `registers = 64`"));
        }
        input.parse::<Token![=]>()?;
        input.parse::<LitInt>()?.base10_parse()
    };
    option.parse(options).map(Some)
}
