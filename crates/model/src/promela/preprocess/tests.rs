//! Texts with their expected tokens.

use super::*;

fn run(text: &str, files: &[(&str, &str)]) -> (String, Vec<&'static str>) {
    let mut reader = |name: &str| {
        let found = files.iter().find(|(file, _)| *file == name);
        let text = found.map(|(_, text)| (*text).to_owned());
        let name = name.to_owned();
        text.map(|text| Text { name, text })
            .ok_or("there is no such file".to_owned())
    };
    let text = Text {
        name: "model.pml".into(),
        text: text.into(),
    };
    let done = Preprocessor::run(text, &[("GIVEN".into(), "7".into())], &mut reader);
    let words: Vec<String> = done.tokens.iter().map(ToString::to_string).collect();
    let codes = done.faults.iter().map(|fault| fault.code).collect();
    (words.join(" "), codes)
}

fn check(text: &str, expected: &str) {
    assert_eq!(run(text, &[]), (expected.to_owned(), vec![]), "{text}");
}

#[test]
fn macros() {
    check("#define N 3\nx[N] = N;", "x [ 3 ] = 3 ;");
    check(
        "#define inc(x, y) x = (x + y)\ninc(a[f(1,2)], 2)",
        "a [ f ( 1 , 2 ) ] = ( a [ f ( 1 , 2 ) ] + 2 )",
    );
    check("#define f (x)\nf", "( x )");
    check("#define f(x) x\nf f (2)", "f 2");
    check("#define a b\n#define b a\na b", "a b");
    check("#define A B\n#define B 2\nA\n#undef B\nA", "2 B");
    check("#define p(x) in##x\np(3) p(it)", "in3 init");
    check("#define go() skip\ngo()", "skip");
    check(
        "#define two(x) x, x\n#define one(x) [x]\ntwo(one(1))",
        "[ 1 ] , [ 1 ]",
    );
    check("x = GIVEN", "x = 7");
}

/// As `gcc -E` does.
#[test]
fn arguments_are_expanded_first() {
    check("#define two(x) x, x\ntwo(two(1))", "1 , 1 , 1 , 1");
    check(
        "#define MAX(a, b) (a > b -> a : b)\nMAX(MAX(1, x), 3)",
        "( ( 1 > x -> 1 : x ) > 3 -> ( 1 > x -> 1 : x ) : 3 )",
    );
    check("#define x x + 1\n#define f(a) a a\nf(x)", "x + 1 x + 1");
    check(
        "#define f(a) a * g\n#define g(a) f(a)\nf(2)(9)",
        "2 * 9 * g",
    );
    check("#define f(a) a\n#define N 3\nf(f)(N) f(f(N))", "f ( 3 ) 3");
}

#[test]
fn arguments_become_texts_and_names() {
    check("#define show(x) printf(#x)\nshow(<>)", "printf ( \"<>\" )");
    check(
        "#define text(x) #x\n#define N 3\ntext( a+b  == N /**/ [1] ) text()",
        "\"a+b == N [1]\" \"\"",
    );
    check("#define text(x) #x\ntext(\"a\\n\")", r#""\"a\\n\"""#);
    check(
        "#define text(x) #x\n#define of(x) text(x)\n#define N 3+4\nof(N)",
        "\"3+4\"",
    );
    check(
        "#define p(x, y) x##y\np(a,1) p(,b) p(c,) p(,) p(1,2)",
        "a1 b c 12",
    );
    check(
        "#define p(x, y) x ## y\n#define N 3\n#define N1 4\np(N,1)",
        "4",
    );
    check("#define p(x, y) x##y\np(-,>) p(:,:)", "-> ::");
}

#[test]
fn conditions() {
    check("#ifdef A\na\n#else\nb\n#endif\nc", "b c");
    check("#define A\n#ifndef A\na\n#elif 1\nb\n#else\nc\n#endif", "b");
    check(
        "#if GIVEN > 3 && !defined(B)\na\n#if 0\nb\n#endif\nc\n#endif",
        "a c",
    );
    check(
        "#if 0\n#if 1\na\n#else\nb\n#endif\n#elif GIVEN == 7\nc\n#endif",
        "c",
    );
    // Inactive branches need not be PROMELA.
    check("#if 0\ndon't 1x \"\n#endif\na", "a");
    check("#if 0\n#else\na\n#if 0\n1x\n#endif\nb\n#endif", "a b");
    check("#if 0\n#error no\n#define X 1\n#endif\nX", "X");
}

#[test]
fn files() {
    let files = [
        ("a.h", "#define N 2\nbyte n = N;"),
        ("loop", "#include \"loop\"\n"),
    ];
    assert_eq!(run("#include \"a.h\"\nN", &files).0, "byte n = 2 ; 2");
    assert_eq!(run("#include <a.h>\nN", &files).0, "byte n = 2 ; 2");
    assert_eq!(run("#include \"b.h\"", &files).1, ["include"]);
    assert_eq!(run("#include \"loop\"", &files).1, ["include"]);
}

#[test]
fn errors_are_reported() {
    for (text, code) in [
        ("#if 1\n", "open-condition"),
        ("#endif\n", "directive"),
        ("#define\n", "directive"),
        ("#define f(a\n", "directive"),
        ("#define f(a) a\nf(1, 2)", "macro"),
        ("#define f(a) a\nf(1", "macro"),
        ("#define f(a) a\n#define open f(\nf(open 1)", "macro"),
        ("#nonsense\n", "directive"),
        ("#if 1\na\n#else\nb\n#endif\n1x", "number"),
        ("#if 1\n1x\n#else\nb\n#endif\n", "number"),
        ("#error this way\n", "error-directive"),
        ("#if 1 +\n#endif", "condition"),
    ] {
        assert_eq!(run(text, &[]).1, [code], "{text}");
    }
}

#[test]
fn macros_that_grow_without_end_are_stopped() {
    let mut text = "#define a0 x x x x x x x x\n".to_owned();
    for level in 1..12 {
        let below = format!(" a{}", level - 1).repeat(8);
        text += &format!("#define a{level}{below}\n");
    }
    assert_eq!(run(&(text + "a11"), &[]).1, ["too-large"]);
    let deep = |depth: usize| {
        format!(
            "#define f(x) x\n{}{}",
            "f(".repeat(depth),
            ")".repeat(depth)
        )
    };
    assert_eq!(run(&deep(100), &[]).1, [""; 0]);
    assert_eq!(run(&deep(2000), &[]).1, ["too-large"]);
    let wide = format!(
        "#define f(x) x x x x\n{}1{}",
        "f(".repeat(30),
        ")".repeat(30)
    );
    assert_eq!(run(&wide, &[]).1, ["too-large"]);
}
