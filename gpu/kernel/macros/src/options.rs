//! The options in the parentheses of `#[kernel(…)]`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, Ident, Lit, LitInt, Path, Result, Token, Type, bracketed, parenthesized};

/// All options except named sets of instances.
#[derive(Default)]
pub struct Options {
    pub instances: Option<Instances>,
    pub constants: Vec<Constant>,
    pub requires: Vec<Expr>,
    pub moves: Option<Expr>,
    pub members: Option<Type>,
    pub registers: Option<LitInt>,
    /// The launch promises the comparisons that the views of a safe kernel would make.
    pub trusted: Option<Ident>,
}

/// `P(f32 = Vec2, f64 = DVec2)`.
pub struct Instances {
    pub parameter: Ident,
    pub types: Vec<Instance>,
}

/// `f32 = Vec2`.
pub struct Instance {
    pub suffix: Ident,
    pub ty: Type,
}

/// `STRICT in [false, true]`.
pub struct Constant {
    pub name: Ident,
    pub values: Vec<Lit>,
}

/// `P in Precisions` with the other options.
pub struct NamedSet {
    pub parameter: Ident,
    pub set: Path,
    pub others: TokenStream,
}

impl Parse for Instance {
    fn parse(input: ParseStream) -> Result<Self> {
        let suffix = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Self {
            suffix,
            ty: input.parse()?,
        })
    }
}

const KNOWN: &str = "a kernel's options are P(f32 = Vec2, …) or P in Set and CONSTANT in [false, true] for its instances, requires(…), moves(…), members = …, registers = …, trusted";

impl Parse for Options {
    fn parse(input: ParseStream) -> Result<Self> {
        let mut options = Options::default();
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            if input.peek(Token![in]) {
                let constant = constant(name, input)?;
                if options.constants.iter().any(|c| c.name == constant.name) {
                    let message = format!("the values of {} are listed twice", constant.name);
                    return Err(Error::new(constant.name.span(), message));
                }
                options.constants.push(constant);
            } else if name == "requires" {
                let list;
                parenthesized!(list in input);
                let conditions = Punctuated::<Expr, Token![,]>::parse_terminated(&list)?;
                options.requires.extend(conditions);
            } else if name == "moves" {
                let expression;
                parenthesized!(expression in input);
                options.moves = Some(expression.parse()?);
            } else if name == "members" {
                input.parse::<Token![=]>()?;
                options.members = Some(input.parse()?);
            } else if name == "registers" {
                input.parse::<Token![=]>()?;
                options.registers = Some(registers(input)?);
            } else if name == "trusted" {
                options.trusted = Some(name);
            } else if name == "block" {
                let message = "a block's width stands in the signature: `block: &Block<256>`";
                return Err(Error::new(name.span(), message));
            } else if name == "shared" {
                let message = "shared memory stands in the signature, as a struct with #[derive(SharedMemory)]: `block: &Block<256, Tile>`";
                return Err(Error::new(name.span(), message));
            } else if name == "bits" {
                let message = "a kernel whose function returns bool, (bool, bool) or [bool; N] gives bits: no option is needed";
                return Err(Error::new(name.span(), message));
            } else if input.peek(syn::token::Paren) && is_type_parameter(&name) {
                if options.instances.is_some() {
                    return Err(Error::new(
                        name.span(),
                        "a kernel is generic over one type at most",
                    ));
                }
                let list;
                parenthesized!(list in input);
                let types = Punctuated::<Instance, Token![,]>::parse_terminated(&list)?;
                options.instances = Some(Instances {
                    parameter: name,
                    types: types.into_iter().collect(),
                });
            } else {
                return Err(unknown(&name));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

/// The values after the name of a constant.
fn constant(name: Ident, input: ParseStream) -> Result<Constant> {
    input.parse::<Token![in]>()?;
    let list;
    bracketed!(list in input);
    let values = Punctuated::<Lit, Token![,]>::parse_terminated(&list)?;
    Ok(Constant {
        name,
        values: values.into_iter().collect(),
    })
}

/// A number of registers that a thread may have.
fn registers(input: ParseStream) -> Result<LitInt> {
    let registers: LitInt = input.parse()?;
    if !(16..=255).contains(&registers.base10_parse::<u32>()?) {
        let message = format!("a thread has 16 to 255 registers; `{registers}` is not");
        return Err(Error::new(registers.span(), message));
    }
    Ok(registers)
}

/// Whether a name is written like a type's.
fn is_type_parameter(name: &Ident) -> bool {
    name.to_string().starts_with(char::is_uppercase)
}

/// The error for an unknown option.
pub fn unknown(name: &Ident) -> Error {
    Error::new(name.span(), format!("unknown option `{name}`: {KNOWN}"))
}

impl NamedSet {
    /// Takes `P in Set` out of the options, if it stands there.
    pub fn find(options: &TokenStream) -> Result<Option<Self>> {
        let mut before = TokenStream::new();
        let tokens: Vec<_> = options.clone().into_iter().collect();
        for (i, token) in tokens.iter().enumerate() {
            let is_in = matches!(token, TokenTree::Ident(ident) if ident == "in");
            // `STRICT in [false, true]` lists values of a constant.
            let is_list = matches!(tokens.get(i + 1), Some(TokenTree::Group(list)) if list.delimiter() == Delimiter::Bracket);
            if !is_in || is_list || i == 0 {
                before.extend([token.clone()]);
                continue;
            }
            let TokenTree::Ident(parameter) = &tokens[i - 1] else {
                return Err(Error::new(token.span(), "write `P in Set`"));
            };
            let rest: TokenStream = tokens[i + 1..].iter().cloned().collect();
            let mut others: TokenStream = tokens[..i - 1].iter().cloned().collect();
            let split = |input: ParseStream| -> Result<(Path, TokenStream)> {
                let set = input.call(Path::parse_mod_style)?;
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
                Ok((set, input.parse()?))
            };
            let (set, behind) = syn::parse::Parser::parse2(split, rest)?;
            others.extend(behind);
            return Ok(Some(Self {
                parameter: parameter.clone(),
                set,
                others,
            }));
        }
        Ok(None)
    }
}
