//! Reads a kernel: its options and its function.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{
    Error, Expr, FnArg, GenericArgument, GenericParam, Ident, ItemFn, Lit, Pat, PathArguments,
    Result, ReturnType, Type, TypePath,
};

use crate::entry::entries;
use crate::launch::launch;
use crate::options::{Named, Options, unknown};

/// How often the function is called, and what it gives.
pub enum Shape {
    Each,
    /// `sets` bit sets with `flags` bits for each index; one of both is 1.
    Bits {
        sets: usize,
        flags: usize,
    },
    /// Lanes, and the struct of shared memory.
    Block {
        lanes: TokenStream,
        shared: TokenStream,
    },
}

/// A parameter behind the first.
pub struct Parameter {
    pub name: Ident,
    pub ty: Type,
}

pub struct Kernel {
    pub function: ItemFn,
    pub options: Options,
    pub shape: Shape,
    /// Type of the first parameter.
    pub index: Type,
    pub parameters: Vec<Parameter>,
}

/// A name of the macro's own, which no name of the author's can meet.
pub fn own(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

pub fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if let Some(Named {
        parameter,
        set,
        others,
    }) = Named::find(&options)?
    {
        return Ok(quote! { #set! { #parameter [#others] [#item] } });
    }
    let kernel = Kernel::new(syn::parse2(options)?, syn::parse2(item)?)?;
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

impl Kernel {
    fn new(options: Options, function: ItemFn) -> Result<Self> {
        let sig = &function.sig;
        for (is_there, word) in [
            (sig.constness.is_some(), "const"),
            (sig.asyncness.is_some(), "async"),
            (sig.unsafety.is_some(), "unsafe"),
            (sig.abi.is_some(), "extern"),
        ] {
            if is_there {
                let message = format!("a kernel is a plain function: remove `{word}`");
                return Err(Error::new_spanned(&sig.ident, message));
            }
        }
        check_generics(&options, &function)?;
        let mut inputs = sig.inputs.iter().map(parameter);
        let Some(index) = inputs.next().transpose()? else {
            let message = "a kernel's first parameter is its index (`i: u32`, or an id) or its block (`block: &Block<256>`)";
            return Err(Error::new_spanned(&sig.ident, message));
        };
        let parameters = inputs.collect::<Result<Vec<_>>>()?;
        for parameter in &parameters {
            check_parameter(&parameter.ty)?;
        }
        let shape = match block(&index.ty)? {
            Some((lanes, shared)) => {
                if !matches!(sig.output, ReturnType::Default) {
                    let message = "a kernel of blocks returns nothing: it writes to its views";
                    return Err(Error::new_spanned(&sig.output, message));
                }
                Shape::Block { lanes, shared }
            }
            None => flags(&sig.output)?,
        };
        if options.members.is_some() && !matches!(shape, Shape::Bits { .. }) {
            let message = "`members` is for kernels that give bits";
            return Err(Error::new_spanned(&options.members, message));
        }
        Ok(Kernel {
            shape,
            index: index.ty,
            parameters,
            options,
            function,
        })
    }

    /// Type of a bit set's words.
    pub fn word(&self) -> TokenStream {
        let members = self.options.members.as_ref().unwrap_or(&self.index);
        quote!(<#members as ::trioxide_kernel::Index>::Word)
    }

    /// Names of the bit sets that the launch takes behind the parameters.
    pub fn bit_sets(&self) -> Vec<Ident> {
        match &self.shape {
            Shape::Bits { sets: 1, .. } => vec![own("bits")],
            Shape::Bits { sets, .. } => (0..*sets).map(|i| own(&format!("bits_{i}"))).collect(),
            _ => Vec::new(),
        }
    }

    /// The flags that a function of bits gives, as an array, from an expression of its return type.
    pub fn flags(&self, call: TokenStream) -> TokenStream {
        match &self.shape {
            Shape::Bits { sets: 1, flags: 1 } => match &self.function.sig.output {
                ReturnType::Type(_, ty) if matches!(**ty, Type::Path(_)) => quote!([#call]),
                _ => call,
            },
            Shape::Bits { sets: 1, .. } => call,
            Shape::Bits { sets, .. } => {
                let fields = (0..*sets).map(syn::Index::from);
                let flags = own("flags");
                quote!({ let #flags = #call; [#(#flags.#fields),*] })
            }
            _ => call,
        }
    }
}

fn check_generics(options: &Options, function: &ItemFn) -> Result<()> {
    let mut types = Vec::new();
    for parameter in &function.sig.generics.params {
        match parameter {
            GenericParam::Type(ty) => types.push(&ty.ident),
            other => {
                let message = "a kernel is generic over one type at most; views need no lifetimes: write In<T>";
                return Err(Error::new_spanned(other, message));
            }
        }
    }
    let name = &function.sig.ident;
    match (&types[..], &options.instances) {
        ([], None) => Ok(()),
        ([parameter], None) => Err(Error::new_spanned(
            parameter,
            format!(
                "kernel {name} is generic: declare its instances, as in #[kernel({parameter}(f32 = Vec2, f64 = DVec2))]"
            ),
        )),
        ([parameter], Some(instances)) if **parameter == instances.parameter => {
            if instances.types.is_empty() {
                let message = "at least one instance: P(f32 = Vec2)";
                return Err(Error::new(instances.parameter.span(), message));
            }
            Ok(())
        }
        ([], Some(instances)) | ([_], Some(instances)) => Err(unknown(&instances.parameter)),
        ([_, second, ..], _) => {
            let message =
                "a kernel is generic over one type at most: gather the others in its trait";
            Err(Error::new_spanned(second, message))
        }
    }
}

fn parameter(input: &FnArg) -> Result<Parameter> {
    let FnArg::Typed(typed) = input else {
        let message = "a kernel is a plain function, no method";
        return Err(Error::new_spanned(input, message));
    };
    let Pat::Ident(name) = &*typed.pat else {
        let message = "a kernel's parameter has a name: take it apart in the body";
        return Err(Error::new_spanned(&typed.pat, message));
    };
    Ok(Parameter {
        name: name.ident.clone(),
        ty: (*typed.ty).clone(),
    })
}

/// Refuses what looks like a view and is none, with the view to write instead.
fn check_parameter(ty: &Type) -> Result<()> {
    let Type::Reference(reference) = ty else {
        return Ok(());
    };
    let view = if reference.mutability.is_some() {
        "Out"
    } else {
        "In"
    };
    let message = match &*reference.elem {
        Type::Slice(slice) => {
            let element = &slice.elem;
            format!("a kernel takes views: write {view}<{}>", quote!(#element))
        }
        _ => format!(
            "a kernel takes views and plain values, no references: write {view}<T> for an array"
        ),
    };
    Err(Error::new_spanned(ty, message))
}

/// Lanes and shared memory of `&Block<LANES, S>`.
fn block(ty: &Type) -> Result<Option<(TokenStream, TokenStream)>> {
    let (path, is_reference) = match ty {
        Type::Reference(reference) => match &*reference.elem {
            Type::Path(path) => (path, true),
            _ => return Err(index_error(ty)),
        },
        Type::Path(path) => (path, false),
        _ => return Err(index_error(ty)),
    };
    let last = last(path);
    if last.ident != "Block" {
        return if is_reference {
            Err(index_error(ty))
        } else {
            Ok(None)
        };
    }
    let message = "a block is taken as `&Block<256>`, or `&Block<256, S>` with shared memory";
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return Err(Error::new_spanned(ty, message));
    };
    let mut values = arguments.args.iter().map(|argument| match argument {
        GenericArgument::Const(expression) => Ok(quote!(#expression)),
        GenericArgument::Type(ty) => Ok(quote!(#ty)),
        other => Err(Error::new_spanned(other, message)),
    });
    let lanes = values.next().transpose()?;
    let shared = values.next().transpose()?.unwrap_or_else(|| quote!(()));
    match lanes {
        Some(lanes) if is_reference => Ok(Some((lanes, shared))),
        _ => Err(Error::new_spanned(ty, message)),
    }
}

fn index_error(ty: &Type) -> Error {
    let message = "a kernel's first parameter is its index (`i: u32`, or an id) or its block (`block: &Block<256>`)";
    Error::new_spanned(ty, message)
}

/// Last segment of a path.
pub fn last(path: &TypePath) -> &syn::PathSegment {
    path.path.segments.last().expect("a path has a segment")
}

/// The shape of a kernel over indices, by what its function returns.
fn flags(output: &ReturnType) -> Result<Shape> {
    let ReturnType::Type(_, ty) = output else {
        return Ok(Shape::Each);
    };
    let is_bool = |ty: &Type| matches!(ty, Type::Path(path) if last(path).ident == "bool");
    let message =
        "a kernel returns nothing, or flags: bool, (bool, bool) or [bool; N] with a number N";
    match &**ty {
        Type::Array(array) if is_bool(&array.elem) => match &array.len {
            Expr::Lit(length) => match &length.lit {
                Lit::Int(flags) => Ok(Shape::Bits {
                    sets: 1,
                    flags: flags.base10_parse()?,
                }),
                _ => Err(Error::new_spanned(length, message)),
            },
            other => Err(Error::new_spanned(other, message)),
        },
        Type::Tuple(tuple) if !tuple.elems.is_empty() && tuple.elems.iter().all(is_bool) => {
            Ok(Shape::Bits {
                sets: tuple.elems.len(),
                flags: 1,
            })
        }
        ty if is_bool(ty) => Ok(Shape::Bits { sets: 1, flags: 1 }),
        ty => Err(Error::new_spanned(ty, message)),
    }
}
