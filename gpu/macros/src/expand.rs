//! Writes a kernel's PTX entries and its launch.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::parse::{Kernel, Kind, Shape};

pub fn expand(kernel: Kernel) -> TokenStream {
    let function = &kernel.function;
    let entries = entries(&kernel);
    let launch = launch(&kernel);
    quote! {
        #[inline(always)]
        #function
        #entries
        #launch
    }
}

/// Bit sets that the launch takes beyond the function's parameters.
fn bit_sets(shape: &Shape) -> Vec<proc_macro2::Ident> {
    match shape {
        Shape::Bits { buffers: 1, .. } => vec![format_ident!("bits")],
        Shape::Bits { buffers, .. } => (0..*buffers).map(|i| format_ident!("bits_{i}")).collect(),
        _ => Vec::new(),
    }
}

/// The flags that a function of bits gives, as an array, from an expression of its return type.
fn flags(shape: &Shape, call: TokenStream) -> TokenStream {
    match shape {
        Shape::Bits {
            buffers: 1,
            flags: 1,
        } => quote!([#call]),
        Shape::Bits { buffers: 1, .. } => call,
        Shape::Bits { buffers, .. } => {
            let fields = (0..*buffers).map(syn::Index::from);
            quote!({ let flags = #call; [#(flags.#fields),*] })
        }
        _ => call,
    }
}

fn entries(kernel: &Kernel) -> TokenStream {
    let name = &kernel.function.sig.ident;
    match &kernel.instances {
        None => entry(kernel, name, TokenStream::new()),
        Some(instances) => {
            let parameter = &instances.parameter;
            instances
                .types
                .iter()
                .map(|(instance, ty)| {
                    let alias = quote!(type #parameter = #ty;);
                    entry(kernel, &format_ident!("{name}_{instance}"), alias)
                })
                .collect()
        }
    }
}

fn entry(kernel: &Kernel, entry: &proc_macro2::Ident, alias: TokenStream) -> TokenStream {
    let name = &kernel.function.sig.ident;
    let mut parameters = Vec::new();
    let mut views = Vec::new();
    let mut arguments = Vec::new();
    for parameter in &kernel.parameters {
        let name = &parameter.name;
        let length = format_ident!("{name}_len");
        match &parameter.kind {
            Kind::In(ty) => {
                parameters.push(quote!(#name: *const #ty, #length: usize));
                views.push(
                    quote!(let #name = unsafe { crate::view::In::from_raw(#name, #length) };),
                );
            }
            Kind::Out(ty) => {
                parameters.push(quote!(#name: *mut #ty, #length: usize));
                views.push(
                    quote!(let #name = unsafe { crate::view::Out::from_raw(#name, #length) };),
                );
            }
            Kind::Atomic => {
                parameters.push(quote!(#name: *mut u32, #length: usize));
                views.push(
                    quote!(let #name = unsafe { crate::view::Atomic::from_raw(#name, #length) };),
                );
            }
            Kind::Scalar => {
                let ty = &parameter.ty;
                parameters.push(quote!(#name: #ty));
            }
        }
        arguments.push(quote!(#name));
    }
    let body = match &kernel.shape {
        Shape::Each => quote! { crate::device::each(n, |i| super::#name(i #(, #arguments)*)); },
        Shape::Bits {
            buffers,
            flags: per_index,
        } => {
            let sets = bit_sets(&kernel.shape);
            for set in &sets {
                let length = format_ident!("{set}_len");
                parameters.push(quote!(#set: *mut u32, #length: usize));
                views
                    .push(quote!(let #set = unsafe { crate::view::Out::from_raw(#set, #length) };));
            }
            let flags = flags(&kernel.shape, quote!(super::#name(i #(, #arguments)*)));
            if *buffers == 1 && *per_index > 1 {
                quote! { crate::device::each_group(n, |i| #flags, bits); }
            } else {
                quote! { crate::device::each_bits(n, |i| #flags, [#(#sets),*]); }
            }
        }
        Shape::Block { lanes } => quote! {
            crate::device::each_block::<#lanes>(n, |block| super::#name(block #(, #arguments)*));
        },
    };
    quote! {
        // A module of its own: inside of it the entry's name does not hide the function's.
        #[cfg(target_arch = "nvptx64")]
        mod #entry {
            #[allow(unused_imports)]
            use super::*;
            #alias

            #[cuda_std::kernel]
            pub unsafe fn #entry(n: u32 #(, #parameters)*) {
                #(#views)*
                #body
            }
        }
    }
}

fn launch(kernel: &Kernel) -> TokenStream {
    let sig = &kernel.function.sig;
    let name = &sig.ident;
    let generics = &sig.generics;
    let visibility = &kernel.function.vis;
    let mut parameters = Vec::new();
    let mut pushes = Vec::new();
    let mut views = Vec::new();
    let mut arguments = Vec::new();
    for parameter in &kernel.parameters {
        let name = &parameter.name;
        match &parameter.kind {
            Kind::In(ty) => {
                parameters.push(quote!(#name: &crate::launch::Buffer<#ty>));
                pushes.push(quote!(arguments.slice(#name);));
                views.push(quote!(let #name = #name.as_in();));
            }
            Kind::Out(ty) => {
                parameters.push(quote!(#name: &mut crate::launch::Buffer<#ty>));
                pushes.push(quote!(arguments.slice(#name);));
                views.push(quote!(let #name = #name.as_out();));
            }
            Kind::Atomic => {
                parameters.push(quote!(#name: &mut crate::launch::Buffer<u32>));
                pushes.push(quote!(arguments.slice(#name);));
                views.push(quote!(let #name = #name.as_atomic();));
            }
            Kind::Scalar => {
                let ty = &parameter.ty;
                parameters.push(quote!(#name: #ty));
                pushes.push(quote!(arguments.scalar(#name);));
            }
        }
        arguments.push(quote!(#name));
    }
    let sets = bit_sets(&kernel.shape);
    for set in &sets {
        parameters.push(quote!(#set: &mut crate::launch::Buffer<u32>));
        pushes.push(quote!(arguments.slice(#set);));
        views.push(quote!(let #set = #set.as_out();));
    }
    let call = quote!(super::#name(i #(, #arguments)*));
    let flags = flags(&kernel.shape, call.clone());
    let (shape, run) = match &kernel.shape {
        Shape::Each => (
            quote!(Each),
            quote!(|range: core::ops::Range<u32>| for i in range { #call }),
        ),
        Shape::Bits {
            buffers,
            flags: per_index,
        } => (
            quote!(Bits),
            if *buffers == 1 && *per_index > 1 {
                quote!(|range: core::ops::Range<u32>| crate::launch::groups(range, n, |i| #flags, bits))
            } else {
                quote!(|range: core::ops::Range<u32>| crate::launch::bits(range, n, |i| #flags, [#(#sets),*]))
            },
        ),
        Shape::Block { lanes } => (
            quote!(Blocks { lanes: #lanes }),
            quote!(|range: core::ops::Range<u32>| crate::launch::blocks::<#lanes>(
                range, SHARED, |i| #call
            )),
        ),
    };
    let (names, select) = match &kernel.instances {
        None => {
            let entry = name.to_string();
            (quote!(#entry), quote!(ENTRIES[0]))
        }
        Some(instances) => {
            let parameter = &instances.parameter;
            let entries = instances
                .types
                .iter()
                .map(|(instance, _)| format!("{name}_{instance}"));
            (
                quote!(#(#entries),*),
                quote!(crate::launch::instance(ENTRIES, #parameter::INSTANCE)),
            )
        }
    };
    let shared = kernel.shared;
    let doc = format!("Launch of [`{name}`](fn@{name}).");
    quote! {
        #[doc = #doc]
        #[cfg(not(target_arch = "nvptx64"))]
        #visibility mod #name {
            #[allow(unused_imports)]
            use super::*;

            /// Names of the kernel's PTX entries.
            pub const ENTRIES: &[&str] = &[#names];
            #[allow(dead_code)]
            const SHARED: usize = #shared;

            /// Runs the kernel for `n` indices (or blocks) on `on`.
            pub fn launch #generics (
                on: &dyn crate::launch::Launcher,
                n: u32
                #(, #parameters)*
            ) -> Result<(), crate::launch::LaunchError> {
                let mut arguments = crate::launch::Arguments::new(n);
                #(#pushes)*
                #(#views)*
                on.launch(crate::launch::Launch {
                    entry: #select,
                    shape: crate::launch::Shape::#shape,
                    n,
                    shared: SHARED,
                    arguments,
                    run: &#run,
                })
            }
        }
    }
}
