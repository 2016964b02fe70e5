//! `#[derive(SharedMemory)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Result};

pub fn expand(input: DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        let message = "shared memory is a struct of `Shared<T, N>` arrays";
        return Err(Error::new_spanned(&input.ident, message));
    };
    let name = &input.ident;
    let types = data.fields.iter().map(|field| &field.ty);
    let (generics, arguments, conditions) = input.generics.split_for_impl();
    let conditions = conditions.map(|clause| &clause.predicates);
    Ok(quote! {
        // SAFETY: every field is shared memory.
        unsafe impl #generics ::trioxide_kernel::SharedMemory for #name #arguments
        where
            #(#types: ::trioxide_kernel::SharedMemory,)*
            #conditions
        {
        }
    })
}
