//! Mistakes that do not compile, and the message for each. `TRYBUILD=overwrite` rewrites the messages.

#[test]
fn mistakes_do_not_compile() {
    let tests = trybuild::TestCases::new();
    tests.pass("tests/compile_pass/*.rs");
    tests.compile_fail("tests/compile_fail/*.rs");
}
