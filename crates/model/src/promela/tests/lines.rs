//! The end of a line ends a statement, as in Spin from 6.3 on, whose counts these are.

use super::{counts, fault};

/// Checks the body of a process.
fn body(text: &str, states: u64) {
    let text = format!("{DECLARED}\nactive proctype P() {{ {text} }}");
    counts(&text, states, states);
}

fn fails(text: &str, code: &str) {
    fault(
        &format!("{DECLARED}\nactive proctype P() {{ {text} }}"),
        code,
    );
}

const DECLARED: &str = "mtype = {m1, m2}; byte x = 7, y = 1, z[2];
    chan q = [1] of {byte}; chan m = [1] of {mtype}; chan p = [1] of {mtype, byte};";

#[test]
fn a_parenthesis_after_it_begins_a_condition() {
    // A message.
    body("q!x\n (y == 1)\n assert(x == 7)", 5);
    body("m!m1\n (y == 1)\n assert(y == 1)", 5);
    body("q!3\n q?x\n (y)\n assert(x == 3)", 6);
    body("q!3; q?x\n (y)\n assert(x == 3)", 6);
    body("q!3; q?3\n (y)", 5);
    body("q!7; q?eval(x)\n (y)\n assert(y)", 6);
    body("q!3; q?<x>\n q?_\n (y)\n assert(x == 3)", 7);
    body("q!!3; q??3\n (y)\n xr q\n (y)", 6);
    body("q!z[0]\n (y)\n q?z[1]\n (y)", 6);
    // One that is not complete fails, whatever follows.
    fails("p!m1\n (y == 2)\n assert(false)", "fields");
    fails("p!m1\n (2)", "fields");
    // One that is, is.
    body("p!m1(y)\n p?m1(x)\n (x)", 5);
    body("p!m1(\n y)\n p?m1(\n x\n)\n (x)", 5);
    // Anything else.
    for before in [
        "skip",
        "y",
        "x = y",
        "x++",
        "y; else_: skip",
        "assert(y)",
        "printf(\"x\")",
        "true",
        "byte u = 1; u",
        "z[1] = 3",
        "q!1; q?[1]",
        "len(m) == 0",
        "(y)",
        "!z[0]",
    ] {
        let steps = before.matches(';').count() as u64;
        let declared = u64::from(before.starts_with("byte"));
        body(
            &format!("{before}\n (y == 1)\n assert(y == 1)"),
            5 + steps - declared,
        );
    }
    body("do :: timeout\n (y == 1) -> break od", 4);
    body("goto on\n (y == 2)\n on: skip\n (y)", 4);
    body("if\n :: y\n (y)\n :: else\n (y)\n fi\n (y)", 5);
}

#[test]
fn the_line_of_a_macro_or_an_argument_counts() {
    let check = |text: &str| counts(&format!("{DECLARED}\n{text}"), 5, 5);
    check("#define it (y == 1)\nactive proctype P() { q!x\n it\n assert(x == 7) }");
    check("#define none\nactive proctype P() { q!x\n none (y == 1)\n assert(x == 7) }");
    check(
        "#define none\n#define no none\nactive proctype P() { q!x\n no (y == 1)\n assert(x == 7) }",
    );
    check("inline f(it) { q!x\n it\n assert(x == 7) } active proctype P() { f((y == 1)) }");
    check("inline f(a, it) { q!x\n a it\n assert(x == 7) } active proctype P() { f(, (y == 1)) }");
    // Here nothing ends.
    counts(
        "chan q = [1] of {byte, byte}; byte y = 1;
         #define it (y)\nactive proctype P() { q!1 it; q?1\\\n (y) }"
            .replace("         #define", "#define")
            .as_str(),
        4,
        4,
    );
}

#[test]
fn an_exclamation_mark_after_it_negates() {
    body("x\n !z[0]\n !(y == 2)\n ~y", 6);
    fails("x\n !z[0]\n assert(false)", "assertion");
    // It sends where it cannot negate.
    body("q!\n 3\n q?\n x\n (x ==\n 3)\n (x\n == 3)\n x =\n 4", 7);
}

#[test]
fn the_arguments_of_an_inline_or_a_process_may_follow() {
    counts(
        "byte x; inline f(a) { x = a } init { f\n (3);\n assert(x == 3) }",
        4,
        4,
    );
    counts(
        "byte x; proctype P(byte z) { x = z } init { run P\n (3)\n (x == 3) }",
        7,
        8,
    );
}

#[test]
fn a_long_arrow_is_an_arrow() {
    counts(
        "byte msg = 1, x;
         active proctype P() { if :: msg == 1 --> x = 2 :: else --> x = 3 fi; assert(x == 2) }",
        5,
        5,
    );
    counts("byte x = 3; init { x-->skip; assert(x == 3) }", 5, 5);
    counts(
        "byte x = 3; init { x-- ; x--; assert(x == 1); do :: x == 1 --> break od; (x == 1 --> true : false) }",
        7,
        7,
    );
}

#[test]
fn in_is_a_name_where_it_is_no_loop() {
    counts(
        "byte in; active proctype P() { in = 1; assert(in == 1) }",
        4,
        4,
    );
    counts(
        "proctype in(byte x) { skip } inline out(in) { in = 3 }
         init { byte b; run in(3); out(b); assert(b == 3) }",
        11,
        15,
    );
    counts(
        "mtype = { in, out }; chan c = [1] of {mtype}; init { c!in; c?in; c!out }",
        5,
        5,
    );
    counts(
        "typedef T { byte in }; T in; init { in.in = 3; goto on; on: assert(in.in == 3) }",
        4,
        4,
    );
    // Spin does not take it there.
    counts(
        "byte in, q[2]; init { for (in in q) { q[in] = in } assert(q[1] == 1) }",
        11,
        11,
    );
}
