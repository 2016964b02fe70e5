//! `#[derive(Group)]`: structs of views as one parameter.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::visit::Visit;
use syn::{
    Data, DeriveInput, Error, Field, Fields, FieldsNamed, GenericArgument, GenericParam, Ident,
    Lifetime, PathArguments, Result, Type, WherePredicate, visit_mut::VisitMut,
};

use crate::kernel::last;

/// Finds a lifetime other than the group's.
struct Foreign<'t> {
    group: &'t Lifetime,
    found: Option<&'t Lifetime>,
}

impl<'t> Visit<'t> for Foreign<'t> {
    fn visit_lifetime(&mut self, lifetime: &'t Lifetime) {
        if lifetime != self.group {
            self.found = Some(lifetime);
        }
    }
}

/// Replaces every lifetime by one.
struct Replace<'l>(&'l Lifetime);

impl VisitMut for Replace<'_> {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        *lifetime = self.0.clone();
    }
}

/// The launch's argument for a field. If the field's type shows the argument's type, it is written out: through
/// `Parameter::Argument` the compiler could not shorten its lifetime, and a group of shared arrays could not go into
/// two launches.
fn argument(ty: &Type, static_type: &Type, generics: &[&Ident]) -> TokenStream {
    struct Mentions<'g> {
        generics: &'g [&'g Ident],
        found: bool,
    }
    impl<'t> Visit<'t> for Mentions<'_> {
        fn visit_lifetime(&mut self, _: &'t Lifetime) {
            self.found = true;
        }

        fn visit_ident(&mut self, ident: &'t Ident) {
            self.found |= self.generics.contains(&ident);
        }
    }
    if let Type::Path(path) = ty
        && let PathArguments::AngleBracketed(list) = &last(path).arguments
    {
        let element = list.args.iter().find_map(|argument| match argument {
            GenericArgument::Type(element) => Some(quote!(#element)),
            _ => None,
        });
        let element = element.unwrap_or_else(|| quote!(u32));
        match last(path).ident.to_string().as_str() {
            "In" => return quote!(&'buffers ::trioxide_kernel::launch::Buffer<#element>),
            "Out" | "Atomic" | "Racing" | "Scatter" => {
                return quote!(&'buffers mut ::trioxide_kernel::launch::Buffer<#element>);
            }
            _ => {}
        }
    }
    let mut mentions = Mentions {
        generics,
        found: false,
    };
    mentions.visit_type(ty);
    if mentions.found {
        quote!(<#static_type as ::trioxide_kernel::Parameter>::Argument<'buffers>)
    } else {
        quote!(#ty)
    }
}

/// The fields of a group: named, with views of one lifetime.
fn fields_of(input: &DeriveInput) -> Result<&FieldsNamed> {
    let message = "a group is a struct of views and scalars with named fields";
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, message));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(&input.ident, message));
    };
    let lifetimes: Vec<_> = input.generics.lifetimes().collect();
    if lifetimes.len() != 1 {
        let message = "a group has one lifetime, that of its views: `struct Search<'a> { sites: In<'a, Site> }`";
        return Err(Error::new_spanned(&input.ident, message));
    }
    for field in &fields.named {
        let group = &lifetimes[0].lifetime;
        let mut foreign = Foreign { group, found: None };
        foreign.visit_type(&field.ty);
        if let Some(lifetime) = foreign.found {
            let message = format!("the views of a group live as long as the group: write {group}");
            return Err(Error::new_spanned(lifetime, message));
        }
    }
    Ok(fields)
}

/// A generic parameter as an argument.
fn name_of(parameter: &GenericParam) -> TokenStream {
    match parameter {
        GenericParam::Type(ty) => {
            let ident = &ty.ident;
            quote!(#ident)
        }
        GenericParam::Const(constant) => {
            let ident = &constant.ident;
            quote!(#ident)
        }
        GenericParam::Lifetime(_) => TokenStream::new(),
    }
}

/// The documentation of a field of the buffers.
fn docs_of(field: &Field) -> TokenStream {
    let docs = field
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"));
    let docs: Vec<_> = docs.collect();
    match docs.is_empty() {
        true => quote!(#[doc = "As the field of the group."]),
        false => quote!(#(#docs)*),
    }
}

/// Whether a launch takes the field by a shared reference or by value.
fn is_shared(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => {
            !["Out", "Atomic", "Racing", "Scatter"].contains(&last(path).ident.to_string().as_str())
        }
        _ => true,
    }
}

/// The type with each lifetime replaced by `'static`.
fn static_type(ty: &Type) -> Type {
    let mut ty = ty.clone();
    Replace(&syn::parse_quote!('static)).visit_type_mut(&mut ty);
    ty
}

/// Copies of the buffers, for a group of shared arrays and values.
fn copies(
    buffers: &Ident,
    others: &[&GenericParam],
    other_names: &[TokenStream],
    predicates: &[&WherePredicate],
) -> TokenStream {
    quote! {
        #[cfg(not(target_arch = "nvptx64"))]
        impl<'buffers, #(#others),*> Clone for #buffers<'buffers, #(#other_names),*>
        where #(#predicates),*
        {
            fn clone(&self) -> Self {
                *self
            }
        }
        #[cfg(not(target_arch = "nvptx64"))]
        impl<'buffers, #(#others),*> Copy for #buffers<'buffers, #(#other_names),*>
        where #(#predicates),*
        {
        }
    }
}

/// With `is_safe` it is a parameter of kernels over an `Own` index too.
pub fn expand(input: DeriveInput, is_safe: bool) -> Result<TokenStream> {
    let fields = fields_of(&input)?;
    let name = &input.ident;
    let visibility = &input.vis;
    let buffers = format_ident!("{name}Buffers");
    let (impl_generics, type_generics, conditions) = input.generics.split_for_impl();
    let predicates: Vec<&WherePredicate> = conditions
        .iter()
        .flat_map(|clause| clause.predicates.iter())
        .collect();
    let others: Vec<&GenericParam> = input
        .generics
        .params
        .iter()
        .filter(|parameter| !matches!(parameter, GenericParam::Lifetime(_)))
        .collect();
    let other_names: Vec<TokenStream> = others.iter().map(|other| name_of(other)).collect();

    let field_names: Vec<_> = fields.named.iter().map(|field| &field.ident).collect();
    let texts: Vec<String> = field_names
        .iter()
        .map(|name| {
            name.as_ref()
                .map(|name| name.unraw().to_string())
                .unwrap_or_default()
        })
        .collect();
    let types: Vec<&Type> = fields.named.iter().map(|field| &field.ty).collect();
    let static_types: Vec<Type> = types.iter().map(|ty| static_type(ty)).collect();
    let generics: Vec<&Ident> = input.generics.type_params().map(|ty| &ty.ident).collect();
    let arguments = types
        .iter()
        .zip(&static_types)
        .map(|(ty, static_type)| argument(ty, static_type, &generics));
    let docs = fields.named.iter().map(docs_of);

    // The entry's argument: the parts of the fields, in their order.
    let raw = static_types.iter().rev().fold(quote!(()), |rest, ty| {
        quote!(::trioxide_kernel::parameter::Pair<<#ty as ::trioxide_kernel::Parameter>::Raw, #rest>)
    });
    let take_apart = field_names.iter().rev().fold(
        quote!(()),
        |rest, name| quote!(::trioxide_kernel::parameter::Pair(#name, #rest)),
    );

    let copies = types
        .iter()
        .all(|ty| is_shared(ty))
        .then(|| copies(&buffers, &others, &other_names, &predicates));
    let view_generics = quote!(<'view, #(#other_names),*>);
    let safe = is_safe.then(|| quote! {
        // SAFETY: every field is such a parameter.
        unsafe impl #impl_generics ::trioxide_kernel::safe::Safe for #name #type_generics
#conditions {
            #[cfg(not(target_arch = "nvptx64"))]
            fn compare_lengths<I: 'static>(lengths: &mut ::trioxide_kernel::launch::Lengths<'_>) {
                #( <#static_types as ::trioxide_kernel::safe::Safe>::compare_lengths::<I>(lengths); )*
            }

            #[inline(always)]
            unsafe fn trusted(self) -> Self {
                // SAFETY: the caller's promise holds for each field.
                unsafe {
                    #name {
                        #( #field_names: ::trioxide_kernel::safe::Safe::trusted(self.#field_names), )*
                    }
                }
            }
        }
    });
    let doc = format!("The launch's argument for [`{name}`].");
    Ok(quote! {
        impl #impl_generics Clone for #name #type_generics #conditions {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl #impl_generics Copy for #name #type_generics #conditions {}

        #[doc = #doc]
        #[cfg(not(target_arch = "nvptx64"))]
        #visibility struct #buffers<'buffers, #(#others),*>
        where #(#predicates),*
        {
            #(
                #docs
                pub #field_names: #arguments,
            )*
        }
        #copies

        // SAFETY: every field is a parameter, and the arguments go to the fields alone.
        unsafe impl #impl_generics ::trioxide_kernel::Parameter for #name #type_generics #conditions {
            type Raw = #raw;
            type View<'view> = #name #view_generics;
            #[cfg(not(target_arch = "nvptx64"))]
            type Argument<'buffers> = #buffers<'buffers, #(#other_names),*>;

            #[inline(always)]
            unsafe fn from_raw<'view>(
                raw: Self::Raw,
                names: ::trioxide_kernel::check::Names,
                run: &'view ::trioxide_kernel::parameter::Run,
            ) -> Self::View<'view> {
                let #take_apart = raw;
                // SAFETY: the caller's promise holds for each field.
                unsafe {
                    #name {
                        #( #field_names: <#static_types as ::trioxide_kernel::Parameter>::from_raw(#field_names, names.field(#texts), run), )*
                    }
                }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn raw(
                _: &'static str,
                argument: Self::Argument<'_>,
                arguments: &mut ::trioxide_kernel::launch::Arguments,
            ) -> Self::Raw {
                #( let #field_names = <#static_types as ::trioxide_kernel::Parameter>::raw(#texts, argument.#field_names, arguments); )*
                #take_apart
            }
        }

        #safe
    })
}
