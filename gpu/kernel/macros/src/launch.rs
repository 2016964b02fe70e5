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
    let (broken, bytes, instance, called, short, launched) = (
        own("broken"),
        own("bytes"),
        own("instance"),
        own("called"),
        own("short"),
        own("launch"),
    );
    let prepare = own("prepare");
    let word = kernel.word();
    let bit_sets = kernel.bit_sets();
    let parameters = kernel.parameters.iter().map(
        |Parameter { name, ty }| quote!(#name: <#ty as ::trioxide_kernel::Parameter>::Argument<'_>),
    );
    let (parameters, same_parameters) = (parameters.clone(), parameters);
    let names = kernel.parameters.iter().map(|parameter| &parameter.name);
    let added = kernel.parameters.iter().map(|parameter| {
        let (Parameter { name, ty }, text) = (parameter, parameter.text());
        quote!(::trioxide_kernel::launch::add::<#ty>(&mut #arguments, #text, #name);)
    });
    let added_sets = bit_sets.iter().map(|set| {
        let text = set.to_string();
        quote!(#arguments.add_bit_set(#text, #set);)
    });
    let checked = checked_conditions(kernel);
    let broken_and_bytes = broken_and_bytes(kernel, &checked);
    let texts = checked.iter().map(|condition| &condition.text);
    let (compared, safety) = safety(kernel);
    let (shape, shared) = shape(kernel);
    let (checks, checks_of_instance) = checks(kernel);
    let (entries, calls) = entries(kernel);
    let place = kernel.place();
    let counterparts = counterparts(kernel);
    let text = kernel.text();
    let formula = match formula(kernel) {
        None => quote!(::core::option::Option::None),
        Some(formula) => quote!(::core::option::Option::Some(#formula)),
    };
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

            const DECLARATION: &::trioxide_kernel::launch::Declaration = &::trioxide_kernel::launch::Declaration {
                name: #text,
                package: ::core::env!("CARGO_PKG_NAME"),
                module: ::core::module_path!(),
                entries: ENTRIES,
                calls: &[#(#calls),*],
                conditions: &[#(#texts),*],
                formula: #formula,
            };

            #counterparts

            // A safe function: conditions and `moves` are the author's expressions.
            fn #prepare #generics (
                #n: u32
                #(, #parameters)*
                #(, #bit_sets: &mut ::trioxide_kernel::launch::Buffer<#word>)*
            ) -> ::core::result::Result<::trioxide_kernel::launch::Launch, ::trioxide_kernel::launch::LaunchError> #conditions {
                #checks_of_instance
                let #instance = #place;
                let (#broken, #bytes) = { #broken_and_bytes };
                let mut #arguments = ::trioxide_kernel::launch::Arguments::new(#n);
                #(#added)*
                #(#added_sets)*
                let #short = #compared;
                let #called = ::trioxide_kernel::launch::Called {
                    instance: #instance,
                    shape: ::trioxide_kernel::launch::Shape::#shape,
                    shared: #shared,
                    n: #n,
                    broken: #broken,
                    bytes: #bytes,
                };
                DECLARATION.launch(#called, #arguments, #short)
            }

            #(#[doc = #docs])*
            pub #safety fn launch #generics (
                #on: &dyn ::trioxide_kernel::launch::Launcher,
                #n: u32
                #(, #same_parameters)*
                #(, #bit_sets: &mut ::trioxide_kernel::launch::Buffer<#word>)*
            ) -> ::core::result::Result<(), ::trioxide_kernel::launch::LaunchError> #conditions {
                let #launched = #prepare #instantiated (#n #(, #names)* #(, #bit_sets)*);
                // SAFETY: the caller's promise, or the promise of the arguments' types and of the checks above.
                unsafe { ::trioxide_kernel::launch::run(#on, #launched) }
            }
        }
    }
    .into_token_stream()
}

/// The array over the own index that is too short, as an `Option`, and `unsafe` if the launch is.
fn safety(kernel: &Kernel) -> (TokenStream, TokenStream) {
    if !kernel.is_safe {
        return (quote!(::core::option::Option::None), quote!(unsafe));
    }
    let (n, arguments, lengths) = (own("n"), own("arguments"), own("lengths"));
    let index = &kernel.index;
    let types = kernel.parameters.iter().map(|parameter| &parameter.ty);
    let in_block = matches!(kernel.shape, Shape::Block { .. }).then(|| {
        let types = types.clone();
        quote! {
            const fn is_safe_in_block<T: ::trioxide_kernel::safe::SafeInBlock>() {}
            #( is_safe_in_block::<#types>(); )*
        }
    });
    let compared = quote!({
        #in_block
        #[allow(unused_mut)]
        let mut #lengths = ::trioxide_kernel::launch::Lengths::new(&#arguments, #n);
        #( <#types as ::trioxide_kernel::safe::Safe>::compare_lengths::<#index>(&mut #lengths); )*
        #lengths.short()
    });
    let safety = kernel.options.trusted.is_some().then(|| quote!(unsafe));
    (compared, safety.unwrap_or_default())
}

/// The formula of the bytes that a launch moves, as its author writes it.
fn formula(kernel: &Kernel) -> Option<String> {
    let moves = kernel.options.moves.as_ref()?;
    Some(tidy(&moves.to_token_stream().to_string()))
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

/// A condition as the launch evaluates it and as an error has it.
struct Condition {
    holds: TokenStream,
    text: String,
}

/// All conditions of a launch, in the order in which they are evaluated.
fn checked_conditions(kernel: &Kernel) -> Vec<Condition> {
    let n = own("n");
    let mut conditions = Vec::new();
    // Elements of lanes are numbered by u32.
    if let Shape::Block { lanes, .. } = &kernel.shape
        && kernel.is_safe
    {
        conditions.push(Condition {
            holds: quote!((#lanes) as u64 * #n as u64 <= u32::MAX as u64),
            text: format!("{} * n < 2^32", quote!(#lanes)),
        });
    }
    let flags = match kernel.shape {
        Shape::Bits { flags, .. } => flags,
        _ => 1,
    };
    for set in kernel.bit_sets() {
        conditions.push(Condition {
            holds: quote!((#flags as u64) * (#n as u64) <= 1 << 32),
            text: format!("{flags} * n <= 2^32, since members of a bit set are numbered by u32"),
        });
        conditions.push(Condition {
            holds: quote!(#set.len() >= ::trioxide_kernel::words(#flags * #n as usize)),
            text: match flags {
                1 => format!("{set}.len() >= words(n)"),
                _ => format!("{set}.len() >= words({flags} * n)"),
            },
        });
    }
    conditions.extend(kernel.options.requires.iter().map(|condition| Condition {
        holds: condition.to_token_stream(),
        text: tidy(&condition.to_token_stream().to_string()),
    }));
    conditions
}

/// The place of the first condition that does not hold, or their number, and the bytes that the launch moves: 0 if a
/// condition is broken, since the formula may rely on it.
fn broken_and_bytes(kernel: &Kernel, conditions: &[Condition]) -> TokenStream {
    let names = environment(kernel);
    let checked = conditions.iter().enumerate().map(|(k, condition)| {
        let holds = &condition.holds;
        quote!(if !(#holds) { (#k, 0) } else)
    });
    let count = conditions.len();
    let bytes = match &kernel.options.moves {
        None => quote!(0),
        Some(moves) => quote!((#moves) as u64),
    };
    quote! {
        #names
        #(#checked)* { (#count, #bytes) }
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
