//! The code that replaces a kernel: its function, entries and launch.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Result};

use crate::entry::entries;
use crate::kernel::Kernel;
use crate::launch::launch;
use crate::options::NamedSet;

pub fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if let Some(NamedSet {
        parameter,
        set,
        others,
    }) = NamedSet::find(&options)?
    {
        return Ok(quote! { #set! { #parameter [#others] [#item] } });
    }
    let function = syn::parse2(item).map_err(|error| {
        let message = "#[kernel] stands on a function: fn name(i: u32, values: In<f32>, …) { … }";
        Error::new(error.span(), message)
    })?;
    let kernel = Kernel::new(syn::parse2(options)?, function)?;
    let function = &kernel.function;
    let entries = entries(&kernel);
    let launch = launch(&kernel);
    Ok(quote! {
        #[inline(always)]
        #function
        #entries
        #launch
    })
}
