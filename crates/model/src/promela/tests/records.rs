//! Records: the values that a `typedef` gives its fields, records as parameters, and
//! channels that are declared after the first statement. The counts are those of Spin
//! 6.5.2, which complains of such channels but makes a verifier for them.

use super::{counts, fault, refused};

/// Checks an assertion at the beginning of a process, after declarations.
fn holds_at_once(declarations: &str, locals: &str, condition: &str) {
    let text = format!("{declarations} active proctype P() {{ {locals} assert({condition}) }}");
    counts(&text, 3, 3);
}

#[test]
fn fields_have_the_values_of_the_typedef() {
    let sema = "typedef S { byte value = 1; byte a[2] = 5 }; S g;";
    holds_at_once(sema, "S l;", "g.value == 1 && g.a[1] == 5 && l.value == 1");
    holds_at_once(
        "mtype = { a, b };
         typedef In { short v = -2; mtype m = b; unsigned u : 3 = 6 };
         typedef Out { In i[2]; int k = 70000 };
         Out o;",
        "Out l[2];",
        "o.i[1].v == -2 && o.i[0].m == b && o.i[1].u == 6 && o.k == 70000
         && l[1].i[0].u == 6 && l[0].k == 70000",
    );
    holds_at_once(
        "typedef R { byte a[3] = {1, 2, 3}; byte b[4] = {1, 2}; bool c = true }; R r;",
        "",
        "r.a[1] == 2 && r.a[2] == 3 && r.b[0] == 1 && r.b[3] == 2 && r.c",
    );
    holds_at_once(
        "#define N 3\ntypedef R { byte a = N * 2 + 1; short b = -N; byte c }; hidden R r;",
        "",
        "r.a == 7 && r.b == -3 && r.c == 0",
    );
    fault(
        "typedef Lock { bool free = true }; Lock l; byte inside;
         active [2] proctype P() {
             if :: l.free -> inside++; assert(inside == 1) :: else -> skip fi
         }",
        "assertion",
    );
    // A record that is declared later keeps its values, but its declaration is a step.
    counts(
        "typedef R { byte a = 3; byte b }; typedef S { R r[2]; short z = -4 };
         active proctype P() {
             S s; byte x; x = 1; S u;
             assert(s.r[1].a == 3 && s.z == -4 && u.r[0].a == 3 && u.z == -4)
         }",
        5,
        5,
    );
    counts(
        "typedef R { byte a = 3; byte b };
         active proctype P() {
             byte n;
             do :: n < 2 -> R r; assert(r.a == 3 + n); r.a = r.a + 1; n++ :: else -> break od
         }",
        13,
        13,
    );
    counts(
        "inline f(r) { R t; t.a = 3; r.a = t.a + 1 }
         typedef R { byte a = 4; byte b };
         active proctype P() { R x; f(x); assert(x.a == 4); f(x); f(x); assert(x.a == 4) }",
        13,
        13,
    );
    counts(
        "typedef R { byte a = 5; byte b }; chan c = [1] of {R};
         active proctype P() {
             R x; R y; x.b = 2; y.a = 0; c!x; c?y; assert(y.a == 5 && y.b == 2)
         }",
        7,
        7,
    );
    counts(
        "typedef R { chan c = [2] of {byte}; byte k = 2; chan d[2] = [1] of {byte} }; R r;
         active proctype P() {
             R l; r.c!r.k; r.c!1; l.d[1]!l.k;
             assert(len(r.c) == 2 && len(l.d[0]) == 0 && len(l.d[1]) == 1)
         }",
        6,
        6,
    );
    counts(
        "typedef R { chan c = [2] of {byte} }; typedef S { R r; R q[2] }; S s;
         active proctype P() {
             S l; s.r.c!1; s.q[1].c!2; s.q[0].c!4; l.r.c!1; l.q[1].c!9;
             assert(len(s.q[0].c) == 1)
         }",
        8,
        8,
    );
}

#[test]
fn the_value_of_a_field_is_constant() {
    refused(
        "byte g = 5; typedef R { byte a = g }; R r; init { skip }",
        "unknown-name",
    );
    refused(
        "typedef R { byte a = b; byte b }; R r; init { skip }",
        "unknown-name",
    );
}

#[test]
fn what_a_record_is_initialized_with_is_ignored() {
    // As in Spin.
    let record = "typedef R { byte a = 7; byte b }; R r[2] = 3; R q = 4;";
    holds_at_once(
        record,
        "R l = 5;",
        "r[0].a == 7 && r[1].b == 0 && q.a == 7 && l.a == 7 && l.b == 0",
    );
    holds_at_once(
        "typedef R { byte a[3] }; R r[2] = {1, 2};",
        "",
        "r[0].a[1] == 0 && r[1].a[0] == 0",
    );
    let fields = "typedef R { byte a; byte b };";
    refused(&format!("{fields} R r = {{1, 2}}; init {{ skip }}"), "type");
    refused(
        &format!("{fields} R r = [1] of {{byte}}; init {{ skip }}"),
        "type",
    );
    refused(&format!("{fields} R q; R r = q; init {{ skip }}"), "type");
}

#[test]
fn a_parameter_may_be_a_record() {
    let record = "typedef R { byte a = 4; byte b = 5 };";
    let runs = |process: &str, body: &str, states: u64, transitions: u64| {
        let text = format!("{record} proctype P({process} init {{ {body} }}");
        counts(&text, states, transitions);
    };
    runs(
        "R r) { assert(r.a == 1 && r.b == 5) }",
        "R x; x.a = 1; run P(x)",
        6,
        6,
    );
    runs(
        "R r) { assert(r.a == 1 && r.b == 5) }",
        "R x; byte p; x.a = 1; x.b = 5; p = run P(x)",
        7,
        7,
    );
    runs(
        "byte k; R r; byte m) { assert(r.a == 1 && r.b == 2 && k == 8 && m == 9); r.a = 3 }",
        "R x[2]; x[1].a = 1; x[1].b = 2; run P(8, x[1], 9); assert(x[1].a == 1)",
        12,
        15,
    );
    runs(
        "R r; R q) { assert(r.a == 4 && q.b == 2) }",
        "R x, y; y.b = 2; run P(x, y)",
        6,
        6,
    );
    // A record stands for its values.
    runs(
        "R r; byte z) { assert(r.b == 1 && z == 7) }",
        "R x; x.a = 1; run P(0, 1, 7)",
        6,
        6,
    );
    runs(
        "byte a; byte b) { assert(a == 4 && b == 5) }",
        "R x; run P(x)",
        5,
        5,
    );
    counts(
        "typedef S { byte v; byte w }; typedef R { S s; byte b };
         proctype P(R r; byte z) { assert(r.s.w == 1 && r.b == 2 && z == 7) }
         proctype Q(S s) { assert(s.w == 1) }
         init { R x; x.s.w = 1; x.b = 2; run P(x, 7); run Q(x.s) }",
        16,
        20,
    );
    counts(
        "typedef S { byte v = 9; chan c }; chan k = [1] of {byte};
         proctype P(S r) { r.c!r.v } init { S x; x.c = k; run P(x); k?9 }",
        8,
        9,
    );
    // An active process has no arguments.
    counts(
        &format!("{record} active proctype P(R r) {{ assert(r.a == 0 && r.b == 0) }}"),
        3,
        3,
    );
    refused(
        &format!("{record} proctype P(R r) {{ skip }} init {{ run P(1) }}"),
        "arguments",
    );
    refused(
        "typedef Q { byte a, b, c }; typedef R { byte a, b };
         proctype P(R r) { skip } init { Q q; run P(q) }",
        "arguments",
    );
}

#[test]
fn a_channel_may_be_declared_anywhere() {
    let check = |body: &str, states: u64, transitions: u64| {
        let text = format!("active proctype P() {{ byte n; {body} }}");
        counts(&text, states, transitions);
    };
    let channel = "chan c = [1] of {byte};";
    check(
        &format!("do :: n < 2 -> {channel} c!n; c?n; n++ :: else -> break od"),
        11,
        11,
    );
    check(
        &format!("do :: {channel} n < 2 -> c!n; c?n; n++ :: else -> break od"),
        11,
        11,
    );
    // It is created once.
    check(
        "do :: n < 2 -> chan c = [2] of {byte}; assert(len(c) == n); c!n; n++ :: else -> break od",
        11,
        11,
    );
    check(
        &format!("for (n : 1 .. 2) {{ {channel} c!n; c?n }}"),
        12,
        12,
    );
    check(
        &format!("{{ {channel} c!n; c?n }} n = 1; {{ {channel} c!n; c?n }}"),
        7,
        7,
    );
    check(
        &format!("if :: n == 0 -> {channel} c!n; c?n; n++ :: else fi"),
        6,
        6,
    );
    check(
        &format!("atomic {{ do :: n < 2 -> {channel} c!n; c?n; n++ :: else -> break od }}"),
        3,
        3,
    );
    check(
        "n = 1; chan c[3] = [1] of {byte}; c[2]!n; c[2]?n; n++",
        6,
        6,
    );
    check(
        &format!(
            "if :: {channel} c!1 :: n = 1 fi; atomic {{ chan d = [0] of {{byte}}; skip; n = 3 }}"
        ),
        6,
        7,
    );
    counts(
        "inline f(n) { chan c = [1] of {byte}; c!n; c?n }
         active proctype P() { byte n; n = 2; f(n); f(n) }",
        7,
        7,
    );
    counts(
        "proctype Q(byte i) {
             byte k;
             do :: k < 2 -> chan c = [1] of {byte}; c!i; c?eval(i); k++ :: else -> break od
         }
         active proctype P() {
             byte n = 2; n = 1; chan d = [2] of {byte}; run Q(1); run Q(2); d!1; d?n
         }",
        377,
        897,
    );
    // A list of values, of which Spin takes none here.
    let list = "active proctype P() { byte n; n = 1; byte a[3] = {1, 2, 3}; skip }";
    refused(list, "declaration");
    // A variable that refers to a channel gets it where it is declared.
    let shared = "chan q = [2] of {byte};";
    let loops = |variable: &str, states: u64| {
        let text = format!(
            "{shared} active proctype P() {{
                 byte n; do :: n < 2 -> {variable}!n; n++ :: else -> break od
             }}"
        );
        counts(&text, states, states);
    };
    loops("chan c; c = q; c", 13);
    loops("chan c = q; c", 11);
    loops("chan c[2]; c[1] = q; c[1]", 13);
}

#[test]
fn a_number_of_bits_that_the_type_has_anyway_is_no_error() {
    let bits = "typedef S { byte v[2] }; typedef R { S s[2]; bit f : 1 }; R x;";
    counts(
        &format!("{bits} init {{ x.s[1].v[0] = 7; assert(x.s[1].v[0] == 7) }}"),
        4,
        4,
    );
    counts(
        "typedef R { bit a : 1, b : 1; bool c : 1 = true; byte d : 8 = 255; int e : 32 = -1 }; R r;
         bit f : 1; short g : 16 = -5;
         proctype P(bit y : 1) { bool l : 1; l = y; assert(l) }
         init { bit h : 1; h = r.c; assert(h && r.d == 255 && r.e == -1 && g == -5); run P(h) }",
        8,
        8,
    );
    for declared in [
        "byte f : 3",
        "bit f : 2",
        "int f : 31",
        "chan f : 8",
        "mtype f : 8",
    ] {
        refused(&format!("{declared}; init {{ skip }}"), "type");
    }
    refused("unsigned f : 32; init { skip }", "syntax");
}
