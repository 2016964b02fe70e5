//! `#[derive(Scalar)]`: enums without fields as parameters.

use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Data, DeriveInput, Error, Fields, Ident, Result, Token};

pub fn expand(input: DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let Data::Enum(data) = &input.data else {
        let message = "#[derive(Scalar)] stands on an enum without fields; for a #[repr(C)] struct of plain data write `impl \
                       Scalar`, for a struct of views #[derive(Group)]";
        return Err(Error::new_spanned(name, message));
    };
    if !input.generics.params.is_empty() {
        let message = "an enum that a kernel takes has no generics";
        return Err(Error::new_spanned(&input.generics, message));
    }
    if data.variants.is_empty() {
        let message = "an enum that a kernel takes has a variant";
        return Err(Error::new_spanned(name, message));
    }
    let with_fields = |fields: &Fields| !matches!(fields, Fields::Unit);
    if let Some(variant) = data.variants.iter().find(|v| with_fields(&v.fields)) {
        let message =
            "an enum that a kernel takes has no fields: take them as parameters of their own";
        return Err(Error::new_spanned(variant, message));
    }
    if !is_u32(&input) {
        let message = format!("an enum that a kernel takes is a u32: write #[repr(u32)] on {name}");
        return Err(Error::new_spanned(name, message));
    }
    Ok(quote! {
        // SAFETY: no array.
        unsafe impl ::trioxide_kernel::Parameter for #name {
            type Raw = u32;
            type View<'view> = #name;
            #[cfg(not(target_arch = "nvptx64"))]
            type Argument<'buffers> = #name;

            #[inline(always)]
            unsafe fn from_raw<'view>(
                raw: u32,
                _: ::trioxide_kernel::check::Names,
                _: &'view ::trioxide_kernel::parameter::Run,
            ) -> #name {
                // SAFETY: `raw` made the number from a variant; the enum is a u32.
                unsafe { ::core::mem::transmute::<u32, #name>(raw) }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn raw(
                _: &'static str,
                argument: #name,
                _: &mut ::trioxide_kernel::launch::Arguments,
            ) -> u32 {
                argument as u32
            }
        }

        // SAFETY: a value.
        unsafe impl ::trioxide_kernel::safe::SafeInBlock for #name {}

        // SAFETY: no array.
        unsafe impl ::trioxide_kernel::safe::Safe for #name {
            #[cfg(not(target_arch = "nvptx64"))]
            fn compare_lengths<I: 'static>(_: &mut ::trioxide_kernel::launch::Lengths<'_>) {}
        }
    })
}

/// Whether the type has `#[repr(u32)]`.
fn is_u32(input: &DeriveInput) -> bool {
    let mut reprs = input
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("repr"));
    reprs.any(|attribute| {
        let list = attribute.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated);
        list.is_ok_and(|list| list.iter().any(|repr| repr == "u32"))
    })
}
