//! Writes a kernel's PTX entries.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;

use crate::kernel::{Kernel, Shape, own};

pub fn entries(kernel: &Kernel) -> TokenStream {
    let name = &kernel.function.sig.ident;
    let entries = kernel.instances().into_iter().map(|instance| {
        let entry_name = match &*instance.suffix {
            "" => name.clone(),
            suffix => format_ident!("{name}{suffix}"),
        };
        entry(kernel, &entry_name, instance.aliases)
    });
    entries.collect()
}

fn entry(kernel: &Kernel, entry: &Ident, aliases: TokenStream) -> TokenStream {
    let name = &kernel.function.sig.ident;
    let label = kernel.text();
    let (n, i, run) = (own("n"), own("i"), own("run"));
    let mut parameters = Vec::new();
    let mut views = Vec::new();
    let mut arguments = Vec::new();
    for (k, parameter) in kernel.parameters.iter().enumerate() {
        let ty = &parameter.ty;
        let own = own(&format!("p{k}"));
        parameters.push(quote!(#own: <#ty as ::trioxide_kernel::Parameter>::Raw));
        let view = kernel.view(parameter, quote!(#own), quote!(&#run));
        views.push(quote!(let #own = #view;));
        arguments.push(own);
    }
    let word = kernel.word();
    for set in kernel.bit_sets() {
        let array = set.to_string();
        parameters.push(quote!(#set: ::trioxide_kernel::view::RawView<#word>));
        views.push(quote! {
            let #set = unsafe {
                ::trioxide_kernel::Out::from_raw(
                    #set,
                    ::trioxide_kernel::check::Label::new(#label, #array),
                )
            };
        });
    }
    let turbofish = kernel.turbofish();
    let first = kernel.first(&i, &run);
    let call = quote!(super::#name #turbofish (#first #(, #arguments)*));
    let body = match &kernel.shape {
        Shape::Each => quote! { ::trioxide_kernel::device::each(#n, |#i| #call); },
        Shape::Bits { sets, flags } => {
            let flags_of = kernel.flags(call);
            let sets_of = kernel.bit_sets();
            if *sets == 1 && *flags > 1 {
                quote! { ::trioxide_kernel::device::each_group(#n, |#i| #flags_of, #(#sets_of)*); }
            } else {
                quote! { ::trioxide_kernel::device::each_bits(#n, |#i| #flags_of, [#(#sets_of),*]); }
            }
        }
        Shape::Block { .. } => {
            quote! { unsafe { ::trioxide_kernel::device::each_block(#n, |#i| #call) }; }
        }
    };
    let options = kernel.options.registers.iter();
    quote! {
        // A module of its own: inside of it the entry's name does not hide the function's.
        #[cfg(target_arch = "nvptx64")]
        mod #entry {
            #[allow(unused_imports)]
            use super::*;
            #aliases

            #[::trioxide_kernel::cuda_std::kernel #((registers = #options))*]
            pub unsafe fn #entry(#n: u32 #(, #parameters)*) {
                #[allow(unused_variables)]
                let #run = ::trioxide_kernel::parameter::Run::new();
                #(#views)*
                #body
                #run.end(::trioxide_kernel::check::Names::new(#label, ""));
            }
        }
    }
}
