//! `instances!`: named sets of instances.
//!
//! An attribute cannot look up a name. So a set is a `macro_rules!` macro: `#[kernel(P in Set)]` passes the kernel to
//! it, and the macro passes the kernel back with the list in place.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, Result, Token, Visibility, parenthesized};

use crate::options::Instance;

/// `/// docs, pub(crate) Precisions(f32 = glam::Vec2, f64 = glam::DVec2)`.
pub struct Set {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    types: Punctuated<Instance, Token![,]>,
}

impl Parse for Set {
    fn parse(input: ParseStream) -> Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let name = input.parse()?;
        let list;
        parenthesized!(list in input);
        Ok(Self {
            attributes,
            visibility,
            name,
            types: Punctuated::parse_terminated(&list)?,
        })
    }
}

pub fn expand(set: Set) -> TokenStream {
    let Set {
        attributes,
        visibility,
        name,
        types,
    } = set;
    let suffixes = types.iter().map(|instance| &instance.suffix);
    let types = types.iter().map(|instance| &instance.ty);
    quote! {
        #(#attributes)*
        #[allow(unused_macros)]
        macro_rules! #name {
            ($parameter:ident [$($options:tt)*] [$($kernel:tt)*]) => {
                #[::trioxide_kernel::kernel($parameter(#(#suffixes = #types),*), $($options)*)]
                $($kernel)*
            };
        }
        #[allow(unused_imports)]
        #visibility use #name;
    }
}
