//! Reads a `#[kernel]` declaration.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::{
    Error, Expr, FnArg, GenericArgument, Ident, ItemFn, LitInt, Pat, PathArguments, Result,
    ReturnType, Token, Type, parenthesized,
};

/// What stands in the attribute's parentheses.
#[derive(Default)]
pub struct Options {
    pub bits: bool,
    pub block: Option<LitInt>,
    pub shared: Option<LitInt>,
    pub instances: Option<Instances>,
}

/// `P(f32 = Vec2, f64 = DVec2)`.
pub struct Instances {
    pub parameter: Ident,
    pub types: Vec<(Ident, Type)>,
}

impl Parse for Options {
    fn parse(input: ParseStream) -> Result<Self> {
        let mut options = Options::default();
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            if name == "bits" {
                options.bits = true;
            } else if name == "block" {
                input.parse::<Token![=]>()?;
                options.block = Some(input.parse()?);
            } else if name == "shared" {
                input.parse::<Token![=]>()?;
                options.shared = Some(input.parse()?);
            } else {
                let list;
                parenthesized!(list in input);
                let mut types = Vec::new();
                while !list.is_empty() {
                    let instance: Ident = list.parse()?;
                    list.parse::<Token![=]>()?;
                    types.push((instance, list.parse()?));
                    if !list.is_empty() {
                        list.parse::<Token![,]>()?;
                    }
                }
                options.instances = Some(Instances {
                    parameter: name,
                    types,
                });
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

/// How often the function is called, and what it gives.
pub enum Shape {
    Each,
    /// `buffers` bit sets with `flags` bits for each index; one of both is 1.
    Bits {
        buffers: usize,
        flags: usize,
    },
    Block {
        lanes: LitInt,
    },
}

/// How a parameter reaches the device.
pub enum Kind {
    /// `In<T>`: `*const T` and a length.
    In(Type),
    /// `Out<T>`: `*mut T` and a length.
    Out(Type),
    /// `Atomic`: `*mut u32` and a length.
    Atomic,
    Scalar,
}

pub struct Parameter {
    pub name: Ident,
    pub ty: Type,
    pub kind: Kind,
}

pub struct Kernel {
    pub function: ItemFn,
    pub shape: Shape,
    pub shared: usize,
    pub instances: Option<Instances>,
    pub parameters: Vec<Parameter>,
}

impl Kernel {
    pub fn new(options: Options, function: ItemFn) -> Result<Self> {
        let shape = match options.block {
            Some(lanes) => Shape::Block { lanes },
            None if options.bits => bits(&function.sig.output)?,
            None => Shape::Each,
        };
        let parameters = function
            .sig
            .inputs
            .iter()
            .skip(1)
            .map(parameter)
            .collect::<Result<_>>()?;
        Ok(Kernel {
            shape,
            shared: options
                .shared
                .map_or(Ok(0), |bytes| bytes.base10_parse::<usize>())?,
            instances: options.instances,
            parameters,
            function,
        })
    }
}

fn bits(output: &ReturnType) -> Result<Shape> {
    let ReturnType::Type(_, ty) = output else {
        return Err(Error::new(
            Span::call_site(),
            "a kernel of bits returns flags",
        ));
    };
    match &**ty {
        Type::Array(array) => match &array.len {
            Expr::Lit(length) => {
                let syn::Lit::Int(flags) = &length.lit else {
                    return Err(Error::new_spanned(length, "a number of flags"));
                };
                Ok(Shape::Bits {
                    buffers: 1,
                    flags: flags.base10_parse()?,
                })
            }
            other => Err(Error::new_spanned(other, "a literal number of flags")),
        },
        Type::Tuple(tuple) => Ok(Shape::Bits {
            buffers: tuple.elems.len(),
            flags: 1,
        }),
        _ => Ok(Shape::Bits {
            buffers: 1,
            flags: 1,
        }),
    }
}

fn parameter(input: &FnArg) -> Result<Parameter> {
    let FnArg::Typed(typed) = input else {
        return Err(Error::new_spanned(input, "a kernel is no method"));
    };
    let Pat::Ident(name) = &*typed.pat else {
        return Err(Error::new_spanned(
            &typed.pat,
            "a kernel's parameter is a name",
        ));
    };
    let ty = (*typed.ty).clone();
    let kind = match &ty {
        Type::Path(path) => {
            let last = path.path.segments.last().expect("a path has a segment");
            let element = || match &last.arguments {
                PathArguments::AngleBracketed(arguments) => match arguments.args.last() {
                    Some(GenericArgument::Type(element)) => Ok(element.clone()),
                    _ => Err(Error::new_spanned(last, "a view of a type")),
                },
                _ => Err(Error::new_spanned(last, "a view of a type")),
            };
            match last.ident.to_string().as_str() {
                "In" => Kind::In(element()?),
                "Out" => Kind::Out(element()?),
                "Atomic" => Kind::Atomic,
                _ => Kind::Scalar,
            }
        }
        _ => Kind::Scalar,
    };
    Ok(Parameter {
        name: name.ident.clone(),
        ty,
        kind,
    })
}
