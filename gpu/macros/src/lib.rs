//! [`macro@kernel`]: a kernel is a function; this attribute adds its PTX entry, its CPU run and its typed launch.

mod expand;
mod parse;

use proc_macro::TokenStream;
use syn::{ItemFn, parse_macro_input};

/// Declares a kernel.
///
/// | declaration | the function is called | it takes, first | it gives |
/// | --- | --- | --- | --- |
/// | `#[kernel]` | once for each index below n | the index, `u32` | nothing |
/// | `#[kernel(bits)]` | once for each index below n | the index, `u32` | flags, packed 32 to a word: `bool`; `(bool, bool)`, a bit set each; `[bool; N]`, one bit set in which flag k of index i is bit N i + k |
/// | `#[kernel(block = 256)]` | once for each block | the block, `&Block<256>` | nothing |
///
/// Further parameters are views of device memory (`In<T>`, `Out<T>`, `Atomic`) and scalars of up to 8 bytes.
/// `shared = BYTES` gives a block that much shared memory. A kernel generic over one type lists its instances,
/// `P(f32 = Vec2, f64 = DVec2)`: each is a PTX entry of its own, `name_f32` and `name_f64`, and the trait that bounds `P`
/// has `const INSTANCE: &'static str`.
///
/// Beside the function stands a module of the same name with `launch(on, n, arguments…)`, `on` being a `Launcher`:
/// `In<T>` becomes `&Buffer<T>`, `Out<T>` and `Atomic` become `&mut Buffer`. Bit sets that the function gives come last.
#[proc_macro_attribute]
pub fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    let options = parse_macro_input!(options as parse::Options);
    let function = parse_macro_input!(item as ItemFn);
    parse::Kernel::new(options, function)
        .map(expand::expand)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
