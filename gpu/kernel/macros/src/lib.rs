//! The macros of `trioxide_kernel`, which documents them with examples.

mod entry;
mod expand;
mod group;
mod instances;
mod kernel;
mod launch;
mod options;
mod scalar;
mod shared;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Declares a kernel: a function, its PTX entry, its run on the CPU and its typed launch.
///
/// | the function's first parameter | its result | its calls |
/// | --- | --- | --- |
/// | `i: Own<I>`, of a `u32` or an id | as for a plain index | for each index below n; the launch is a safe function, since the kernel takes the views of `trioxide_kernel::safe` |
/// | `i: u32` or an id | nothing | for each index below n |
/// | `i: u32` or an id | flags: `bool`; `(bool, bool)`, a bit set each; `[bool; N]`, one bit set in which flag k of index i is bit N i + k | for each index below n; 32 flags make a word |
/// | `block: &Block<LANES>` or `&Block<LANES, S>` | nothing | for each block below n; `S` is the struct of its shared memory |
///
/// Further parameters are views (`In<T>`, `Out<T>`, `Atomic<T>`), numbers, `bool`, enums without fields
/// (`#[derive(Scalar)]`), ids, vectors, and groups (`#[derive(Group)]`). Their names are the author's: none is
/// reserved.
///
/// The options, in any order:
///
/// | option | |
/// | --- | --- |
/// | `P(f32 = Vec2, f64 = DVec2)` | the instances of a kernel that is generic over `P`: PTX entries `name_f32` and `name_f64`; a launch chooses the instance by its type |
/// | `P in Precisions` | the same, by the name of a set that [`macro@instances`] declares |
/// | `STRICT in [false, true]` | the values of a constant that the kernel is generic over, `const STRICT: bool` (or `u32`, `usize`): PTX entries `name_strict_false` and `name_strict_true`, after the suffix of the type; a launch names the value, `launch::<true>` or `launch::<_, true>` |
/// | `requires(a.len() == 3 * n, …)` | conditions, checked at each launch: `n` is the number of indices or blocks (`usize`); arrays have `len()` and `bytes()`; `words(n)` is the length of a bit set |
/// | `moves(a.bytes() + …)` | the fewest bytes that a launch moves from and to memory: its floor in benchmarks |
/// | `members = HalfEdge` | the type of the bit set's members, if it is not the index |
/// | `trusted` | a kernel over `Own` or `OwnBlock` whose views compare no index; its launch is `unsafe` |
/// | `registers = 80` | most registers of a thread on the GPU, 16 to 255; without it the assembler chooses |
///
/// A parameter called `n` or `words` hides the number and the function of that name in conditions.
///
/// Beside the function is a module of the same name with `unsafe fn launch(on, n, arguments…)` (`fn` over an `Own`
/// index): `In<T>` becomes `&Buffer<T>`, `Out<T>` and `Atomic<T>` become `&mut Buffer<T>`, a group its `…Buffers`. The
/// bit sets that the function returns come last.
#[proc_macro_attribute]
pub fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    expand::expand(options.into(), item.clone())
        .unwrap_or_else(|error| {
            // The function stays, so that the compiler reports nothing else as missing or unused. An async function is
            // dropped, since it has errors of its own.
            let error = error.into_compile_error();
            match syn::parse2::<syn::ItemFn>(item.clone()) {
                Ok(function) if function.sig.asyncness.is_some() => error,
                _ => quote::quote!(#error #item),
            }
        })
        .into()
}

/// Declares a named set of instances: `instances! { pub(crate) Precisions(f32 = glam::Vec2, f64 = glam::DVec2) }`.
///
/// A kernel uses it by `#[kernel(P in Precisions)]`; the name is imported like any other. Types are written with their
/// full paths, since they are resolved where the kernel is declared.
#[proc_macro]
pub fn instances(input: TokenStream) -> TokenStream {
    instances::expand(parse_macro_input!(input)).into()
}

/// Makes a struct of views and scalars a parameter of kernels.
///
/// Beside `struct Search<'a> { sites: In<'a, Site>, count: u32 }` it writes
/// `SearchBuffers<'a> { sites: &'a Buffer<Site>, count: u32 }`, which launches take. Every field is `pub` there. Fields
/// may be groups themselves.
#[proc_macro_derive(Group)]
pub fn group(input: TokenStream) -> TokenStream {
    group::expand(parse_macro_input!(input), false)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// As [`macro@Group`], for views whose indices are checked: `trioxide_kernel::safe::Group`.
#[proc_macro_derive(SafeGroup)]
pub fn safe_group(input: TokenStream) -> TokenStream {
    group::expand(parse_macro_input!(input), true)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes an enum without fields, `#[repr(u32)]`, a parameter of kernels: a launch takes the enum itself.
///
/// On the GPU it is passed as a number. The launch takes only the enum, so the number is that of a variant.
#[proc_macro_derive(Scalar)]
pub fn scalar(input: TokenStream) -> TokenStream {
    scalar::expand(parse_macro_input!(input))
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a struct of `Shared` arrays the shared memory of a block: `&Block<256, Tile>`.
#[proc_macro_derive(SharedMemory)]
pub fn shared_memory(input: TokenStream) -> TokenStream {
    shared::expand(parse_macro_input!(input))
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
