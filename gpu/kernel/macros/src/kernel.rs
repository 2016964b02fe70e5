//! Reads a kernel: its options and its function.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::visit::Visit;
use syn::{
    ConstParam, Error, Expr, FnArg, GenericArgument, GenericParam, Ident, ItemFn, Lifetime, Lit,
    Pat, PathArguments, Result, ReturnType, Safety, Type, TypePath,
};

use crate::options::{Constant, Options, unknown};

/// How a launch calls the function, and the function's result.
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

/// A parameter after the first.
pub struct Parameter {
    pub name: Ident,
    pub ty: Type,
}

impl Parameter {
    /// Its name in messages.
    pub fn text(&self) -> String {
        self.name.unraw().to_string()
    }
}

pub struct Kernel {
    pub function: ItemFn,
    pub options: Options,
    pub shape: Shape,
    /// Type of the first parameter, `I` for `Own<I>`.
    pub index: Type,
    /// Whether it is an `Own<I>`: then the launch is safe, unless the kernel trusts its indices.
    pub is_safe: bool,
    pub parameters: Vec<Parameter>,
}

/// A name that only the macro uses: it cannot collide with a name of the author's.
pub fn own(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

impl Kernel {
    pub fn new(options: Options, function: ItemFn) -> Result<Self> {
        let sig = &function.sig;
        for (is_there, word) in [
            (sig.constness.is_some(), "const"),
            (sig.asyncness.is_some(), "async"),
            (matches!(sig.safety, Safety::Unsafe(_)), "unsafe"),
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
            return Err(Error::new_spanned(&sig.ident, FIRST));
        };
        check_index(&index.ty)?;
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
            let message = "`members` names the members of the bit set that a kernel gives, but this kernel gives none: return \
                           bool, (bool, bool) or [bool; N], or remove `members`";
            return Err(Error::new_spanned(&options.members, message));
        }
        let owned = match &index.ty {
            // The index of `PerBlock` arrays.
            Type::Path(path) if last(path).ident == "OwnBlock" => {
                Some(syn::parse_quote!(::trioxide_kernel::safe::Blocks))
            }
            ty => owned(ty),
        };
        if let (None, Some(trusted)) = (&owned, &options.trusted) {
            let message = "`trusted` is for a kernel over an `Own` index or an `OwnBlock`: other kernels compare nothing";
            return Err(Error::new(trusted.span(), message));
        }
        Ok(Kernel {
            shape,
            is_safe: owned.is_some(),
            index: owned.unwrap_or(index.ty),
            parameters,
            options,
            function,
        })
    }

    /// Its name in messages.
    pub fn text(&self) -> String {
        self.function.sig.ident.unraw().to_string()
    }

    /// Type of a bit set's words.
    pub fn word(&self) -> TokenStream {
        let members = self.options.members.as_ref().unwrap_or(&self.index);
        quote!(<#members as ::trioxide_kernel::Index>::Word)
    }

    /// Names of the bit sets that the launch takes after the parameters.
    pub fn bit_sets(&self) -> Vec<Ident> {
        match &self.shape {
            Shape::Bits { sets: 1, .. } => vec![own("bits")],
            Shape::Bits { sets, .. } => (0..*sets).map(|i| own(&format!("bits_{i}"))).collect(),
            _ => Vec::new(),
        }
    }

    /// The flags that a function of bits returns, as an array, from an expression of its return type.
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

impl Kernel {
    /// The function's first argument, from a block or an index `i` of the run `run`; in a safe kernel `i` is a number.
    pub fn first(&self, i: &Ident, run: &Ident) -> TokenStream {
        let index = &self.index;
        match (self.is_safe, &self.shape) {
            (true, Shape::Block { .. }) => quote! {
                // SAFETY: the launch makes one call for each block.
                unsafe { ::trioxide_kernel::safe::OwnBlock::new(#i, &#run) }
            },
            (true, _) => quote! {
                // SAFETY: the launch makes one call for each number.
                unsafe { ::trioxide_kernel::safe::Own::<#index>::new(#i, &#run) }
            },
            (false, _) => quote!(#i),
        }
    }

    /// The view of a parameter.
    pub fn view(&self, parameter: &Parameter, value: TokenStream, run: TokenStream) -> TokenStream {
        let (ty, label, array) = (&parameter.ty, self.text(), parameter.text());
        let view = quote!(
            <#ty as ::trioxide_kernel::Parameter>::from_raw(
                #value,
                ::trioxide_kernel::check::Names::new(#label, #array),
                #run,
            )
        );
        match self.options.trusted {
            Some(_) => quote!(unsafe { ::trioxide_kernel::safe::Safe::trusted(#view) }),
            None => quote!(unsafe { #view }),
        }
    }
}

/// An instance of a kernel: a PTX entry, and its counterpart on the CPU.
pub struct Instance {
    /// The part of the entry's name after the kernel's name: nothing, or `_f32_strict_true`.
    pub suffix: String,
    /// `type P = Vec2; const STRICT: bool = true;`
    pub aliases: TokenStream,
}

impl Kernel {
    /// The kernel's instances, in the order in which [`Kernel::place`] counts them.
    pub fn instances(&self) -> Vec<Instance> {
        let mut instances = vec![Instance {
            suffix: String::new(),
            aliases: TokenStream::new(),
        }];
        if let Some(types) = &self.options.instances {
            let parameter = &types.parameter;
            let of_type = |instance: &crate::options::Instance| {
                let (suffix, ty) = (&instance.suffix, &instance.ty);
                Instance {
                    suffix: format!("_{suffix}"),
                    aliases: quote!(type #parameter = #ty;),
                }
            };
            instances = types.types.iter().map(of_type).collect();
        }
        for constant in &self.options.constants {
            let (name, ty) = (&constant.name, self.type_of(constant));
            let with_values = instances.iter().flat_map(|instance| {
                constant.values.iter().map(move |value| {
                    let (suffix, aliases) = (&instance.suffix, &instance.aliases);
                    let lower = name.unraw().to_string().to_lowercase();
                    Instance {
                        suffix: format!("{suffix}_{lower}_{}", text_of(value)),
                        aliases: quote!(#aliases const #name: #ty = #value;),
                    }
                })
            });
            instances = with_values.collect();
        }
        instances
    }

    /// An expression for the place of a launch's instance among the kernel's instances, in a function with the kernel's
    /// generics.
    pub fn place(&self) -> TokenStream {
        let text = self.text();
        let mut place = match &self.options.instances {
            None => quote!(0),
            Some(types) => {
                let parameter = &types.parameter;
                let listed = types.types.iter().map(|instance| &instance.ty);
                quote!(::trioxide_kernel::launch::instance::<#parameter>(
                    #text,
                    &[#(::core::any::TypeId::of::<#listed>()),*],
                )?)
            }
        };
        for Constant { name, values } in &self.options.constants {
            let count = values.len();
            place = quote!(
                (#place) * #count
                    + const { ::trioxide_kernel::launch::place_of_value(&[#(#values as u64),*], #name as u64) }
            );
        }
        place
    }

    /// The function's generic arguments, where they must be written out: constants are not inferred.
    pub fn turbofish(&self) -> TokenStream {
        if self.options.constants.is_empty() {
            return TokenStream::new();
        }
        let names = self
            .function
            .sig
            .generics
            .params
            .iter()
            .map(|parameter| match parameter {
                GenericParam::Type(ty) => &ty.ident,
                GenericParam::Const(constant) => &constant.ident,
                GenericParam::Lifetime(lifetime) => &lifetime.lifetime.ident,
            });
        quote!(::<#(#names),*>)
    }

    /// The type of a constant, as the function declares it.
    fn type_of(&self, constant: &Constant) -> &Type {
        let parameters = &mut self.function.sig.generics.const_params();
        let declared = parameters.find(|parameter| parameter.ident == constant.name);
        &declared.expect("checked with the generics").ty
    }
}

/// A value of a constant in an entry's name.
fn text_of(value: &Lit) -> String {
    match value {
        Lit::Bool(value) => value.value.to_string(),
        Lit::Int(value) => value.base10_digits().to_owned(),
        _ => String::new(),
    }
}

fn check_generics(options: &Options, function: &ItemFn) -> Result<()> {
    let name = &function.sig.ident;
    let mut types = Vec::new();
    let mut constants = Vec::new();
    for parameter in &function.sig.generics.params {
        match parameter {
            GenericParam::Type(ty) => types.push(&ty.ident),
            GenericParam::Const(constant) => {
                check_constant(name, constant, options)?;
                constants.push(&constant.ident);
            }
            GenericParam::Lifetime(_) => {
                let message = "a kernel is generic over one type at most and over constants, not over lifetimes: write In<T> \
                               without a lifetime";
                return Err(Error::new_spanned(parameter, message));
            }
        }
    }
    let unused = |constant: &&Constant| !constants.contains(&&constant.name);
    if let Some(constant) = options.constants.iter().find(unused) {
        return Err(unknown(&constant.name));
    }
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

/// Refuses a constant without values, or with values that are not of its type.
fn check_constant(kernel: &Ident, constant: &ConstParam, options: &Options) -> Result<()> {
    let name = &constant.ident;
    let is_flag = match &constant.ty {
        Type::Path(path) if last(path).ident == "bool" => true,
        Type::Path(path) if last(path).ident == "u32" || last(path).ident == "usize" => false,
        ty => {
            let message = "a kernel's constant is a bool, a u32 or a usize";
            return Err(Error::new_spanned(ty, message));
        }
    };
    let example = if is_flag { "[false, true]" } else { "[2, 3]" };
    let Some(listed) = options.constants.iter().find(|c| c.name == *name) else {
        let message = format!(
            "kernel {kernel} is generic over {name}: declare its values, as in #[kernel({name} in {example})]"
        );
        return Err(Error::new_spanned(name, message));
    };
    if listed.values.is_empty() {
        let message = format!("at least one value: {name} in {example}");
        return Err(Error::new(listed.name.span(), message));
    }
    for (i, value) in listed.values.iter().enumerate() {
        let is_of_type = match value {
            Lit::Bool(_) => is_flag,
            Lit::Int(number) => !is_flag && number.base10_parse::<u32>().is_ok(),
            _ => false,
        };
        if !is_of_type {
            let ty = &constant.ty;
            let message = format!(
                "{name} is a {}: list values of it, as in {name} in {example}",
                quote!(#ty)
            );
            return Err(Error::new_spanned(value, message));
        }
        if listed.values[..i]
            .iter()
            .any(|before| text_of(before) == text_of(value))
        {
            return Err(Error::new_spanned(value, "this value is listed twice"));
        }
    }
    Ok(())
}

fn parameter(input: &FnArg) -> Result<Parameter> {
    let FnArg::Typed(typed) = input else {
        let message = "a kernel is a plain function, not a method: move it out of the impl and replace `self` by views or a \
                       #[derive(Group)] struct";
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

/// Refuses types that look like views but are not; the message gives the view to write.
fn check_parameter(ty: &Type) -> Result<()> {
    let reference = match ty {
        Type::Reference(reference) => reference,
        Type::Path(path) => {
            let message = match last(path).ident.to_string().as_str() {
                "usize" | "isize" => "a number has one size on every machine: write u32 or u64",
                "Vec" | "Buffer" => {
                    "a kernel takes views: write In<T>, or Out<T> for an array that it writes"
                }
                _ => return check_lifetimes(ty),
            };
            return Err(Error::new_spanned(ty, message));
        }
        Type::Array(_) | Type::Tuple(_) | Type::Slice(_) => {
            let message = "a kernel takes views, numbers, ids, vectors and groups: write In<T> for an array, a parameter for \
                           each number, or a #[repr(C)] struct of plain data with `impl Scalar`";
            return Err(Error::new_spanned(ty, message));
        }
        _ => return check_lifetimes(ty),
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
        Type::Array(array) => {
            let element = &array.elem;
            format!("a kernel takes views: write {view}<{}>", quote!(#element))
        }
        elem => format!(
            "a kernel takes no references: write {view}<T> for an array, and `{}` for a value",
            quote!(#elem)
        ),
    };
    Err(Error::new_spanned(ty, message))
}

/// Refuses a view with a lifetime of its own, which could outlive the launch.
fn check_lifetimes(ty: &Type) -> Result<()> {
    struct NamedLifetime<'t>(Option<&'t Lifetime>);
    impl<'t> Visit<'t> for NamedLifetime<'t> {
        fn visit_lifetime(&mut self, lifetime: &'t Lifetime) {
            if lifetime.ident != "_" {
                self.0 = Some(lifetime);
            }
        }
    }
    let mut named = NamedLifetime(None);
    named.visit_type(ty);
    match named.0 {
        None => Ok(()),
        Some(lifetime) => {
            let message = "a view lives as long as its launch: write In<T> without a lifetime";
            Err(Error::new_spanned(lifetime, message))
        }
    }
}

/// The message for a wrong first parameter.
const FIRST: &str = "a kernel's first parameter is its index (`i: Own<Sample>`; `i: u32` or an id) or its block (`block: OwnBlock<256>`, `&Block<256>`)";

/// Refuses a first parameter that is certainly no index.
fn check_index(ty: &Type) -> Result<()> {
    const NONE: [&str; 18] = [
        "In", "Out", "Atomic", "Racing", "bool", "u8", "i8", "u16", "i16", "i32", "u64", "i64",
        "u128", "i128", "usize", "isize", "f32", "f64",
    ];
    match ty {
        Type::Path(path) if NONE.contains(&last(path).ident.to_string().as_str()) => {
            Err(index_error(ty))
        }
        Type::Path(_) | Type::Reference(_) => Ok(()),
        _ => Err(index_error(ty)),
    }
}

/// The index `I` of `Own<I>`.
fn owned(ty: &Type) -> Option<Type> {
    let Type::Path(path) = ty else { return None };
    let own = last(path);
    if own.ident != "Own" {
        return None;
    }
    let PathArguments::AngleBracketed(arguments) = &own.arguments else {
        return Some(syn::parse_quote!(u32));
    };
    let index = arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    });
    Some(index.unwrap_or_else(|| syn::parse_quote!(u32)))
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
    let is_own = last.ident == "OwnBlock" && !is_reference;
    if last.ident != "Block" && !is_own {
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
    if let Some(GenericArgument::Const(Expr::Lit(literal))) = arguments.args.first()
        && let Lit::Int(number) = &literal.lit
    {
        let lanes: u32 = number.base10_parse()?;
        if lanes == 0 || !lanes.is_multiple_of(32) || lanes > 1024 {
            let message =
                format!("a block has 32 to 1024 lanes, a multiple of 32; `{lanes}` is not");
            return Err(Error::new_spanned(literal, message));
        }
    }
    match lanes {
        Some(lanes) if is_reference || is_own => Ok(Some((lanes, shared))),
        _ => Err(Error::new_spanned(ty, message)),
    }
}

fn index_error(ty: &Type) -> Error {
    Error::new_spanned(ty, FIRST)
}

/// Last segment of a path.
pub fn last(path: &TypePath) -> &syn::PathSegment {
    path.path.segments.last().expect("a path has a segment")
}

/// The shape of a kernel over indices, by the return type of its function.
fn flags(output: &ReturnType) -> Result<Shape> {
    let ReturnType::Type(_, ty) = output else {
        return Ok(Shape::Each);
    };
    let is_bool = |ty: &Type| matches!(ty, Type::Path(path) if last(path).ident == "bool");
    let message = "a kernel returns nothing, or flags: bool, (bool, bool) or [bool; N] with N from 1 to 32; write other \
                   results to an Out<T>";
    match &**ty {
        Type::Array(array) if is_bool(&array.elem) => match &array.len {
            Expr::Lit(length) => match &length.lit {
                Lit::Int(flags) if matches!(flags.base10_parse(), Ok(1..=32)) => Ok(Shape::Bits {
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
