//! Writes a kernel's launch: the checks of its arguments, and its run on the CPU.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, Type};

use crate::kernel::{Instance, Kernel, Parameter, Shape, last, own};

pub fn launch(kernel: &Kernel) -> TokenStream {
    let sig = &kernel.function.sig;
    let name = &sig.ident;
    let visibility = &kernel.function.vis;
    let (generics, arguments_of_types, conditions) = sig.generics.split_for_impl();
    let instantiated = arguments_of_types.as_turbofish();
    let (on, n, arguments) = (own("on"), own("n"), own("arguments"));
    let (moves_of, broken, condition, launched, instance) = (
        own("moves"),
        own("broken"),
        own("condition"),
        own("launch"),
        own("instance"),
    );
    let prepare = own("prepare");
    let word = kernel.word();
    let bit_sets = kernel.bit_sets();
    let parameters = kernel.parameters.iter().map(
        |Parameter { name, ty }| quote!(#name: <#ty as ::trioxide_kernel::Parameter>::Argument<'_>),
    );
    let (parameters, same_parameters) = (parameters.clone(), parameters);
    let names = kernel.parameters.iter().map(|parameter| &parameter.name);
    let raws = kernel.parameters.iter().map(|parameter| {
        let (Parameter { name, ty }, text) = (parameter, parameter.text());
        quote! {
            let #name = <#ty as ::trioxide_kernel::Parameter>::raw(#text, #name, &mut #arguments);
            #arguments.push(#name);
        }
    });
    let raw_sets = bit_sets.iter().map(|set| {
        let text = set.to_string();
        quote! {
            let #set = #arguments.array(#text, #set);
            #arguments.push(#set);
        }
    });
    let conditions_checked = checked_conditions(kernel);
    let (lengths, safety) = safety(kernel);
    let moves = moves(kernel, &broken);
    let (shape, shared) = shape(kernel);
    let (checks, checks_of_instance) = checks(kernel);
    let (entries, calls) = entries(kernel);
    let place = kernel.place();
    let counterparts = counterparts(kernel);
    let text = kernel.text();
    let doc = format!("Launch of [`{name}`](fn@{name}).");
    let docs = launch_docs(kernel);
    quote! {
        #[doc = #doc]
        #[cfg(not(target_arch = "nvptx64"))]
        #visibility mod #name {
            #[allow(unused_imports)]
            use super::*;

            #checks

            /// Names of the kernel's PTX entries.
            pub const ENTRIES: &[&str] = &[#(#entries),*];

            /// The CPU's counterparts of the entries.
            const CALLS: &[::trioxide_kernel::launch::Calls] = &[#(#calls),*];

            #counterparts

            // A safe function: conditions and `moves` are the author's expressions.
            fn #prepare #generics (
                #n: u32
                #(, #parameters)*
                #(, #bit_sets: &mut ::trioxide_kernel::launch::Buffer<#word>)*
            ) -> ::core::result::Result<::trioxide_kernel::launch::Launch, ::trioxide_kernel::launch::LaunchError> #conditions {
                #checks_of_instance
                #conditions_checked
                let #moves_of = #moves;
                #lengths
                let mut #arguments = ::trioxide_kernel::launch::Arguments::new(#n);
                #(#raws)*
                #(#raw_sets)*
                if let ::core::option::Option::Some(#condition) = #broken {
                    return ::core::result::Result::Err(
                        ::trioxide_kernel::launch::LaunchError::Requirement {
                            kernel: #text,
                            condition: #condition,
                            lengths: ::trioxide_kernel::launch::lengths(#n, &#arguments),
                        },
                    );
                }
                let #instance = #place;
                ::core::result::Result::Ok(::trioxide_kernel::launch::Launch {
                    kernel: ::trioxide_kernel::launch::Kernel {
                        name: #text,
                        entry: ENTRIES[#instance],
                        package: ::core::env!("CARGO_PKG_NAME"),
                        module: ::core::module_path!(),
                    },
                    shape: ::trioxide_kernel::launch::Shape::#shape,
                    n: #n,
                    shared: #shared,
                    arguments: #arguments,
                    moves: #moves_of,
                    calls: CALLS[#instance],
                })
            }

            #(#[doc = #docs])*
            pub #safety fn launch #generics (
                #on: &dyn ::trioxide_kernel::launch::Launcher,
                #n: u32
                #(, #same_parameters)*
                #(, #bit_sets: &mut ::trioxide_kernel::launch::Buffer<#word>)*
            ) -> ::core::result::Result<(), ::trioxide_kernel::launch::LaunchError> #conditions {
                let #launched = #prepare #instantiated (#n #(, #names)* #(, #bit_sets)*)?;
                // SAFETY: the caller's promise, or the promise of the arguments' types and of the checks above.
                unsafe { #on.launch(#launched) }
            }
        }
    }
    .into_token_stream()
}

/// The comparison of the lengths of arrays over the own index, and `unsafe` if there is no comparison.
fn safety(kernel: &Kernel) -> (TokenStream, TokenStream) {
    if !kernel.is_safe {
        return (TokenStream::new(), quote!(unsafe));
    }
    let (n, short) = (own("n"), own("short"));
    let (index, label) = (&kernel.index, kernel.text());
    let lengths = kernel.parameters.iter().map(|parameter| {
        let (Parameter { name, ty }, text) = (parameter, parameter.text());
        quote! {
            if let ::core::option::Option::Some(#short) =
                <#ty as ::trioxide_kernel::safe::Safe>::too_short::<#index>(#text, &#name, #n)
            {
                return ::core::result::Result::Err(::trioxide_kernel::launch::LaunchError::TooShort {
                    kernel: #label,
                    array: #short.array,
                    len: #short.len,
                    n: #n,
                    per: #short.per,
                });
            }
        }
    });
    let mut checks = quote!(#(#lengths)*);
    if let Shape::Block { lanes, .. } = &kernel.shape {
        let types = kernel.parameters.iter().map(|parameter| &parameter.ty);
        let limit = format!("{} * n < 2^32", quote!(#lanes));
        let arguments = own("arguments");
        checks.extend(quote! {
            const fn is_safe_in_block<T: ::trioxide_kernel::safe::SafeInBlock>() {}
            #( is_safe_in_block::<#types>(); )*
            // Elements of lanes are numbered by u32.
            if (#lanes) as u64 * #n as u64 > u32::MAX as u64 {
                let #arguments = ::trioxide_kernel::launch::Arguments::new(#n);
                return ::core::result::Result::Err(::trioxide_kernel::launch::LaunchError::Requirement {
                    kernel: #label,
                    condition: #limit,
                    lengths: ::trioxide_kernel::launch::lengths(#n, &#arguments),
                });
            }
        });
    }
    let safety = kernel.options.trusted.is_some().then(|| quote!(unsafe));
    (checks, safety.unwrap_or_default())
}

/// The bytes that the launch moves; `None` if a condition is broken, since the formula may rely on it.
fn moves(kernel: &Kernel, broken: &Ident) -> TokenStream {
    match &kernel.options.moves {
        None => quote!(::core::option::Option::None),
        Some(moves) => {
            let names = environment(kernel);
            let formula = tidy(&moves.to_token_stream().to_string());
            quote!(if #broken.is_some() {
                ::core::option::Option::None
            } else {
                #names
                ::core::option::Option::Some(::trioxide_kernel::launch::Moves {
                    bytes: (#moves) as u64,
                    formula: #formula,
                })
            })
        }
    }
}

/// The conditions of a block kernel on every device: checked at its declaration, or for each instance.
fn checks(kernel: &Kernel) -> (TokenStream, TokenStream) {
    let Shape::Block { lanes, shared } = &kernel.shape else {
        return Default::default();
    };
    let width = quote_spanned! { lanes.span() =>
        ::core::assert!(
            ::trioxide_kernel::block::is_width(#lanes),
            "a block has 32 to 1024 lanes, a multiple of 32"
        )
    };
    let memory = quote_spanned! { shared.span() =>
        ::core::assert!(
            ::trioxide_kernel::block::has_shared(::core::mem::size_of::<#shared>()),
            "a block has at most 227 KiB of shared memory, 256 bytes of which are for `exclusive_sum`: make the struct smaller"
        )
    };
    let registers = kernel.options.registers.iter().map(|registers| {
        quote_spanned! { registers.span() =>
            ::core::assert!(
                ::trioxide_kernel::block::has_registers(#lanes, #registers),
                "a block has at most 65536 registers, eight of a thread at a time: allow fewer, or make the block narrower"
            )
        }
    });
    let width = [width].into_iter().chain(registers);
    // The width may be one of the kernel's constants, and the memory may depend on its type.
    if !kernel.options.constants.is_empty() {
        return (TokenStream::new(), quote!(const { #(#width;)* #memory }));
    }
    let width = quote!(#(const _: () = #width;)*);
    match kernel.options.instances {
        None => (quote!(#width const _: () = #memory;), TokenStream::new()),
        Some(_) => (width, quote!(const { #memory })),
    }
}

/// The names that conditions and `moves` use: `n`, the arguments, `words`.
fn environment(kernel: &Kernel) -> TokenStream {
    let n = own("n");
    let names = kernel.parameters.iter().map(|Parameter { name, ty }| {
        if is_number(ty) {
            quote!(let #name = #name;)
        } else {
            quote!(let #name = &#name;)
        }
    });
    // The author's `n`, also if the kernel went through a named set of instances, which is a macro.
    let author_n = Ident::new("n", kernel.function.sig.ident.span());
    let is_parameter = |name: &str| kernel.parameters.iter().any(|p| p.name == name);
    let count = (!is_parameter("n"))
        .then(|| quote!(#[allow(unused_variables)] let #author_n = #n as usize;));
    let words = (!is_parameter("words")).then(|| {
        quote!(
            #[allow(unused_imports)]
            use ::trioxide_kernel::words;
        )
    });
    quote! {
        #words
        #count
        #( #[allow(unused_variables)] #names )*
    }
}

/// Whether a type is one of the language's numbers, or a flag.
fn is_number(ty: &Type) -> bool {
    const NUMBERS: [&str; 11] = [
        "bool", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f32", "f64",
    ];
    match ty {
        Type::Path(path) => NUMBERS.contains(&last(path).ident.to_string().as_str()),
        _ => false,
    }
}

/// Defines `broken`, the first condition that does not hold.
fn checked_conditions(kernel: &Kernel) -> TokenStream {
    let names = environment(kernel);
    let (n, broken) = (own("n"), own("broken"));
    let conditions = kernel.options.requires.iter().map(|condition| {
        let text = condition.to_token_stream().to_string();
        let text = tidy(&text);
        quote! {
            if #broken.is_none() && !(#condition) {
                #broken = ::core::option::Option::Some(#text);
            }
        }
    });
    let flags = match kernel.shape {
        Shape::Bits { flags, .. } => flags,
        _ => 1,
    };
    let room = kernel.bit_sets().into_iter().map(|set| {
        let text = match flags {
            1 => format!("{set}.len() >= words(n)"),
            _ => format!("{set}.len() >= words({flags} * n)"),
        };
        let members =
            format!("{flags} * n <= 2^32, since members of a bit set are numbered by u32");
        quote! {
            if #broken.is_none() && (#flags as u64) * (#n as u64) > 1 << 32 {
                #broken = ::core::option::Option::Some(#members);
            }
            if #broken.is_none() && #set.len() < ::trioxide_kernel::words(#flags * #n as usize) {
                #broken = ::core::option::Option::Some(#text);
            }
        }
    });
    quote! {
        #[allow(unused_mut)]
        let mut #broken: ::core::option::Option<&'static str> = ::core::option::Option::None;
        {
            #(#room)*
            #names
            #(#conditions)*
        }
    }
}

/// A condition's tokens as an author writes them.
fn tidy(tokens: &str) -> String {
    tokens
        .replace(" . ", ".")
        .replace(" :: ", "::")
        .replace("! ", "!")
        .replace(" ()", "()")
        .replace(" (", "(")
        .replace("( ", "(")
        .replace(" )", ")")
        .replace(" ,", ",")
}

/// The shape and the shared memory of a launch.
fn shape(kernel: &Kernel) -> (TokenStream, TokenStream) {
    match &kernel.shape {
        Shape::Each => (quote!(Each), quote!(0)),
        Shape::Bits { .. } => (quote!(Bits), quote!(0)),
        Shape::Block { lanes, shared } => (
            quote!(Blocks { lanes: (#lanes) as u32 }),
            quote!(::core::mem::size_of::<#shared>()),
        ),
    }
}

/// The CPU's counterparts of the PTX entries, each in a module.
fn counterparts(kernel: &Kernel) -> TokenStream {
    let counterpart =
        |instance: &Instance| counterpart(kernel, &calls_of(instance), &instance.aliases);
    kernel.instances().iter().map(counterpart).collect()
}

/// The module of an instance's counterpart. A module named by the suffix alone would hide the type `f64`.
fn calls_of(instance: &Instance) -> Ident {
    own(&format!("calls{}", instance.suffix))
}

fn counterpart(kernel: &Kernel, module: &Ident, aliases: &TokenStream) -> TokenStream {
    let name = &kernel.function.sig.ident;
    let label = kernel.text();
    let (values, n, i) = (own("values"), own("n"), own("i"));
    let (range, run) = (own("range"), own("run"));
    let view = |(k, parameter): (usize, &Parameter)| {
        let Parameter { name, ty } = parameter;
        let k = k + 1;
        // The compiler's error names a parameter that would outlive the run.
        let borrowed = quote_spanned!(ty.span() => &#run);
        let view = kernel.view(parameter, quote!(#values.value(#k)), borrowed);
        quote! {
            // SAFETY: the launch pushed it with this type, and its caller's promise; buffers stay borrowed during the
            // launch.
            let #name = #view;
        }
    };
    let views = kernel.parameters.iter().enumerate().map(view);
    let word = kernel.word();
    let bit_sets = kernel.bit_sets();
    let set_view = |(k, set): (usize, &Ident)| {
        let (k, text) = (k + kernel.parameters.len() + 1, set.to_string());
        quote! {
            // SAFETY: the launch pushed it with this type; each word belongs to one call.
            let #set = unsafe {
                ::trioxide_kernel::Out::<#word>::from_raw(
                    #values.value(#k),
                    ::trioxide_kernel::check::Label::new(#label, #text),
                )
            };
        }
    };
    let set_views = bit_sets.iter().enumerate().map(set_view);
    let arguments = kernel.parameters.iter().map(|parameter| &parameter.name);
    let turbofish = kernel.turbofish();
    let first = kernel.first(&i, &run);
    let call = quote!(super::super::#name #turbofish (#first #(, #arguments)*));
    let from_index =
        (!kernel.is_safe).then(|| quote!(let #i = ::trioxide_kernel::Index::from_index(#i);));
    let body = match &kernel.shape {
        Shape::Each => quote! {
            for #i in #range {
                ::trioxide_kernel::place::enter_index(#i);
                #from_index
                #call
            }
        },
        Shape::Bits { sets, flags } => {
            let flags_of = kernel.flags(call);
            if *sets == 1 && *flags > 1 {
                quote!(::trioxide_kernel::launch::groups(#range, #n, |#i| #flags_of, #(#bit_sets)*))
            } else {
                quote!(::trioxide_kernel::launch::bits(#range, #n, |#i| #flags_of, [#(#bit_sets),*]))
            }
        }
        Shape::Block { lanes, shared } => {
            quote! {
                // SAFETY: the promise of the launch's caller.
                unsafe { ::trioxide_kernel::launch::blocks::<{ #lanes }, #shared>(#range, #label, |#i| #call) }
            }
        }
    };
    quote! {
        mod #module {
            #[allow(unused_imports)]
            use super::super::*;
            #aliases

            #[allow(unused_variables)]
            pub(super) unsafe fn calls(
                #values: &::trioxide_kernel::launch::Arguments,
                #n: u32,
                #range: ::core::ops::Range<u32>,
            ) {
                let #run = ::trioxide_kernel::parameter::Run::of(#values);
                ::trioxide_kernel::place::enter_kernel(#label);
                #(#views)*
                #(#set_views)*
                #body
            }
        }
    }
}

/// Names of the PTX entries, and their counterparts.
fn entries(kernel: &Kernel) -> (Vec<String>, Vec<TokenStream>) {
    let name = kernel.function.sig.ident.to_string();
    let instances = kernel.instances();
    let names = instances
        .iter()
        .map(|instance| format!("{name}{}", instance.suffix));
    let calls = instances.iter().map(|instance| {
        let module = calls_of(instance);
        quote!(#module::calls)
    });
    (names.collect(), calls.collect())
}

/// The documentation of `launch`.
fn launch_docs(kernel: &Kernel) -> Vec<String> {
    let what = match kernel.shape {
        Shape::Block { .. } => "blocks",
        _ => "indices",
    };
    let mut docs = vec![
        format!(" Runs the kernel for `n` {what} on `on`. It may return before the kernel ends."),
        String::new(),
        " # Errors".to_owned(),
        " [`LaunchError`](::trioxide_kernel::launch::LaunchError) when an array lies on another device, the device has no PTX of"
            .to_owned(),
        " this package, or the device fails; and unless".to_owned(),
    ];
    for condition in &kernel.options.requires {
        let condition = tidy(&condition.to_token_stream().to_string());
        docs.push(format!(" - `{condition}`"));
    }
    for set in kernel.bit_sets() {
        docs.push(format!(" - `{set}` has room for the flags of `n` indices"));
    }
    if kernel.options.requires.is_empty() && kernel.bit_sets().is_empty() {
        docs.pop();
        docs.push(" this package, or the device fails.".to_owned());
    }
    if kernel.is_safe && kernel.options.trusted.is_none() {
        docs.extend([
            String::new(),
            " Also where an array over the own index has fewer than `n` elements, or a call uses an index that an array does not"
                .to_owned(),
            " have: on a GPU this may show at a later wait.".to_owned(),
        ]);
        return docs;
    }
    docs.extend([
        String::new(),
        " # Safety".to_owned(),
        " With these arguments every index that the kernel forms is below the length of the array that it is used with; an"
            .to_owned(),
        " element of an `Out` that one call writes no other call reads or writes; lanes of a block that share memory are"
            .to_owned(),
        " separated by barriers. The kernel keeps no view. The PTX that the device has of this package is built from its"
            .to_owned(),
        " sources. The conditions above are checked; ids that arrays hold are not.".to_owned(),
    ]);
    docs
}
