//! Expressions, displayed fully parenthesized.

use super::*;
use crate::syntax::ExpressionKind as Kind;

fn shown(expression: &Expression) -> String {
    match &expression.kind {
        Kind::Integer(number) => number.to_string(),
        Kind::Float(number) => format!("{number:?}"),
        Kind::Text(text) => format!("{text:?}"),
        Kind::Bool(truth) => truth.to_string(),
        Kind::Null => "null".to_owned(),
        Kind::Name(name) => name.to_string(),
        Kind::Register(name) => format!("${name}"),
        Kind::Argument(position) => format!("arg{position}"),
        Kind::Return => "ret".to_owned(),
        Kind::Unary { operator, operand } => format!("({operator} {})", shown(operand)),
        Kind::Binary {
            operator,
            left,
            right,
        } => format!("({} {operator} {})", shown(left), shown(right)),
        Kind::Conditional {
            condition,
            then,
            otherwise,
        } => {
            let [condition, then, otherwise] = [condition, then, otherwise].map(|it| shown(it));
            format!("({condition} ? {then} : {otherwise})")
        }
        Kind::Field {
            object,
            field,
            arrow,
        } => {
            let sign = if *arrow { "->" } else { "." };
            format!("{}{sign}{}", shown(object), field.text)
        }
        Kind::Member {
            object,
            member,
            arrow,
        } => {
            let sign = if *arrow { "->*" } else { ".*" };
            format!("({}{sign}{})", shown(object), shown(member))
        }
        Kind::Index { object, index } => format!("{}[{}]", shown(object), shown(index)),
        Kind::Slice { object, start, end } => {
            format!("{}[{}..{}]", shown(object), shown(start), shown(end))
        }
        Kind::Cast { type_name, operand } => format!("<{type_name}>{}", shown(operand)),
        Kind::Call {
            function,
            arguments,
        } => {
            let arguments: Vec<String> = arguments.iter().map(shown).collect();
            format!("{}({})", shown(function), arguments.join(", "))
        }
        Kind::SizeOf(operand) => format!("sizeof {}", shown(operand)),
        Kind::SizeOfType(type_name) => format!("sizeof <{type_name}>"),
        Kind::SizeOfCharacter => "sizeof <character>".to_owned(),
        Kind::Set(_) | Kind::Map(_) | Kind::Sequence(_) => "collection".to_owned(),
        Kind::Assign {
            place,
            operator,
            value,
        } => {
            let operator = operator.map(|it| it.to_string()).unwrap_or_default();
            format!("({operator}= {} {})", shown(place), shown(value))
        }
        Kind::Step {
            place,
            operator,
            is_postfix,
        } => {
            let place = shown(place);
            if *is_postfix {
                format!("(post{operator} {place})")
            } else {
                format!("(pre{operator} {place})")
            }
        }
        Kind::Comma { first, second } => format!("(, {} {})", shown(first), shown(second)),
        Kind::Error => "!".to_owned(),
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let (expression, diagnostics) = parse_expression(text);
    assert_eq!(diagnostics, [], "{text}");
    assert_eq!(shown(&expression.unwrap()), expected, "{text}");
}

#[track_caller]
fn check_error(text: &str, code: &str, underlined: &str) {
    let (_, diagnostics) = parse_expression(text);
    let first = diagnostics.first().expect(text);
    assert_eq!(first.code, code, "{text}: {}", first.message);
    assert_eq!(&text[first.span.clone()], underlined, "{text}");
}

#[test]
fn precedence() {
    check("a + b * c - d", "((a + (b * c)) - d)");
    check("a < b and c == d or e", "(((a < b) and (c == d)) or e)");
    check("a || b && !c", "(a or (b and (! c)))");
    check("not a == b and c", "((not (a == b)) and c)");
    check("!a == b", "((! a) == b)");
    check("a | b ^ c & d << 2 + 1", "(a | (b ^ (c & (d << (2 + 1)))))");
    check("(a & 1) == 1", "((a & 1) == 1)");
    check("-a.b * *p->q", "((- a.b) * (* p->q))");
    check("p@n + 1", "(p @ (n + 1))");
    check("&a[1].b", "(& a[1].b)");
    check("a - -1", "(a - (- 1))");
    check("a + +b", "(a + (+ b))");
    check(
        "a or b ? c or d : e or f",
        "((a or b) ? (c or d) : (e or f))",
    );
    check("a ? b : c ? d : e", "(a ? b : (c ? d : e))");
    check("a ? b ? c : d : e", "(a ? (b ? c : d) : e)");
    check("not a ? -b : *c", "((not a) ? (- b) : (* c))");
    check(
        "f(a ? 1 : 2, b)[c ? 0 : 1]",
        "f((a ? 1 : 2), b)[(c ? 0 : 1)]",
    );
    check("(a ? b : c)->d", "(a ? b : c)->d");
    check("o.*m * 2 + p->*q", "(((o.*m) * 2) + (p->*q))");
    check("*p.*m.n", "((* p).*m.n)");
    check("a.*b->*c", "((a.*b)->*c)");
    check("(o.*f)(1)", "(o.*f)(1)");
    check("&S::b == o.*m", "((& S::b) == (o.*m))");
}

#[test]
fn calls() {
    check("f()", "f()");
    check("f(1, a + b) + 1", "(f(1, (a + b)) + 1)");
    check("(int) puts(\"a\")", "<int>puts(\"a\")");
    check("ns::f(g(x))[2]", "ns::f(g(x))[2]");
    check("p->back(p)->next", "p->back(p)->next");
    check("*f(-1) == 2", "((* f((- 1))) == 2)");
    check("(f)(x)", "f(x)");
    check_error("f(1 2)", "syntax", "2");
    check_error("f(", "syntax", "");
    check_error("f(,)", "syntax", ",");
}

#[test]
fn operands() {
    check("0xff + 0b1_0 + 1_000 + 0o17", "(((255 + 2) + 1000) + 15)");
    check("10ul - 0x10UL", "(<unsigned long>10 - <unsigned long>16)");
    check("1.5 + 2e3 + 2.5f", "((1.5 + 2000.0) + <float>2.5)");
    check(r#""a\n\x41\"" == t"#, r#"("a\nA\"" == t)"#);
    check("'a' + '\\n'", "(97 + 10)");
    check("true != false", "(true != false)");
    check("p != null", "(p != null)");
    check("p ? p : nullptr", "(p ? p : null)");
    check("$rip + $", "($rip + $)");
    check("mod::inner::x + ::y", "(mod::inner::x + ::y)");
    check("queue.c::count + 1", "(queue.c::count + 1)");
    check("\"src/queue.c\"::count", "src/queue.c::count");
    check("'queue.c'::count", "queue.c::count");
    check("'queue.c'::run::calls", "queue.c::run::calls");
    check(r#"L"a" == u"b\n""#, r#"("a" == "b\n")"#);
    check(r#"U"a" != u8"b""#, r#"("a" != "b")"#);
    check("L'a' + u'b' + U'c'", "((97 + 98) + 99)");
    check("L + u8 + U", "((L + u8) + U)");
    check(r"'\0' + '\033' + '\a'", "((0 + 27) + 7)");
    check("0 + 00 + 0x01", "((0 + 0) + 1)");
    check("t.0.1", "t.0.1");
    check("a[i + 1][2..n]", "a[(i + 1)][2..n]");
    check("a -> b", "a->b");
    check("event + state", "(event + state)");
}

#[test]
fn casts_and_sizes() {
    check("(queue_t *)p", "<queue_t *>p");
    check("*(struct queue **) p", "(* <struct queue **>p)");
    check("(unsigned long)x + 1", "(<unsigned long>x + 1)");
    check("(size_t)x", "<size_t>x");
    check("(a) - 1", "(a - 1)");
    check("(a) * b", "(a * b)");
    check("(a) and b", "(a and b)");
    check("((a))", "a");
    check("sizeof x + 1", "(sizeof x + 1)");
    check("sizeof(unsigned long)", "sizeof <unsigned long>");
    check("sizeof(x)", "sizeof x");
    check("sizeof(ns::T *)", "sizeof <ns::T *>");
    check("sizeof(int[4])", "sizeof <int [4]>");
    check("sizeof(char *[2][3]) + 1", "(sizeof <char *[2][3]> + 1)");
    check("sizeof(int[n][3])", "((sizeof <int> * n) * 3)");
    check("sizeof(int (*)[3])", "sizeof <int (*)[3]>");
    // Values, whatever types exist.
    check("-(i * (*(p)))", "(- (i * (* p)))");
    check("(f(*(p)))", "f((* p))");
    check("-(i * (e))", "(- (i * e))");
    check("-(i * (e[3]))", "(- (i * e[3]))");
    check(
        "sizeof('a') + sizeof 'a'",
        "(sizeof <character> + sizeof <character>)",
    );
    check("sizeof('a' + 1)", "sizeof (97 + 1)");
    check("sizeof 'a.c'::x", "sizeof a.c::x");
    check("(int (*)(char, ...))p + 1", "(<int (*)(char, ...)>p + 1)");
    check("(int ns::S::*)p", "<int ns::S::*>p");
    check("(a * b)", "(a * b)");
    check("(f (*g)(h))", "f((* g))(h)");
    check("sizeof(a[4])", "sizeof a[4]");
    check("{int}p + 1", "((* <int *>p) + 1)");
    check("{struct node *}&x", "(* <struct node **>(& x))");
    check(
        "{unsigned char[2 + n]}0x1000",
        "((* <unsigned char *>4096) @ (2 + n))",
    );
    check("-{int}$sp", "(- (* <int *>$sp))");
    check("{std::pair<int, int>} p", "(* <std::pair<int, int> *>p)");
}

#[test]
fn types_that_only_the_program_knows() {
    let check = |text: &str, types: &[&str], expected: &str| {
        assert_eq!(possible_types(text), types, "{text}");
        let types: Vec<String> = types.iter().map(|it| (*it).to_owned()).collect();
        let (expression, diagnostics) = parse_expression_with_types(text, &types);
        assert_eq!(diagnostics, [], "{text}");
        assert_eq!(shown(&expression.unwrap()), expected, "{text}");
    };
    check("(t)-5*2", &["t"], "(<t>(- 5) * 2)");
    check("1 + *(t)&s", &["t"], "(1 + (* <t>(& s)))");
    check("(t)(p)->v", &["t"], "<t>p->v");
    check("(ns::t)~(u)-1", &["ns::t", "u"], "<ns::t>(~ <u>(- 1))");
    check("(t *)-1 + (a) / 2", &[], "(<t *>(- 1) + (a / 2))");
    let without = parse_expression("(t)-5*2").0.unwrap();
    assert_eq!(shown(&without), "(t - (5 * 2))");
    let standard = parse_expression("(size_t)-1").0.unwrap();
    assert_eq!(shown(&standard), "<size_t>(- 1)");
}

#[test]
fn numbers_have_the_types_of_their_suffixes() {
    check("1L", "<long>1");
    check("1u + 0xFFul", "(<unsigned int>1 + <unsigned long>255)");
    check("5000000000u", "<unsigned long>5000000000");
    check(
        "0x8000000000000000ll",
        "<unsigned long long>9223372036854775808",
    );
    check("9223372036854775808ll", "9223372036854775808");
    check(
        "0xffffffff + 0x7fffffff",
        "(<unsigned int>4294967295 + 2147483647)",
    );
    check("0xffffffffffffffffL", "<unsigned long>18446744073709551615");
    check("1.5f", "<float>1.5");
    check("1.5", "1.5");
    check("5u8 + 255u8", "(<u8>5 + <u8>255)");
    check("0x7fi8", "<i8>127");
    check("0b101usize", "<usize>5");
    check("1_000i64", "<i64>1000");
    check("3f32", "<f32>3.0");
    check("1.5f32", "<f32>1.5");
    check("1.5f64", "<f64>1.5");
    check("30.375l", "<long double>30.375");
    check("2e3L", "<long double>2000.0");
    check("1.1f", "<float>1.100000023841858");
    check("0xaf32", "44850");
    check_error("256u8", "bad-number", "256u8");
    check_error("128i8", "bad-number", "128i8");
    check_error("5u7", "bad-number", "5u7");
}

#[test]
fn casts_of_cpp_are_casts() {
    check("static_cast<long>(n) + 1", "(<long>n + 1)");
    check("reinterpret_cast<char *>(p)[1]", "<char *>p[1]");
    check("long(n)", "<long>n");
    check("bool(a + b)", "<bool>(a + b)");
    check("static_cast(n)", "static_cast(n)");
}

#[test]
fn words_are_names_where_a_value_is_expected() {
    check("on + when", "(on + when)");
    check("and and or", "(and and or)");
    check("not", "not");
    check("not == 8", "(not == 8)");
    check("not - 1", "(not (- 1))");
    check("not not", "(not not)");
    let not = ["not".to_owned()];
    let known = parse_expression_with_types("not - 1", &not).0.unwrap();
    assert_eq!(shown(&known), "(not - 1)");
    assert_eq!(possible_types("not - 1 + not(x)"), ["not", "not"]);
}

#[test]
fn mistakes() {
    check_error("", "expected-expression", "");
    check_error("a +", "syntax", "");
    check_error("(a", "syntax", "");
    check_error("a b", "after-expression", "b");
    check_error("a & 1 == 1", "mixed-operators", "==");
    check_error("0b12", "bad-number", "0b12");
    check_error(
        "99999999999999999999999999999999999999999",
        "bad-number",
        "99999999999999999999999999999999999999999",
    );
    check_error("3abc", "bad-number", "3abc");
    check_error("\"a\\q\"", "bad-escape", "\"a\\q\"");
    check_error("'ab'", "bad-character", "'ab'");
    check_error("a.", "syntax", "");
    check_error("a ? b", "syntax", "");
    check_error("a ? : c", "syntax", ":");
    check_error("'abc'::", "syntax", "");
    check_error("{int", "syntax", "");
    check_error("{int}", "syntax", "");
    check_error("{int[2}p", "syntax", "}");
    check_error("0644 + 1", "ambiguous-number", "0644");
    check_error("08", "ambiguous-number", "08");
    check_error("a \u{a7} b", "unknown-character", "\u{a7}");
    check_error("{1}", "syntax", "1");
    check_error("if", "syntax", "if");
}

#[test]
fn depth_and_length_are_limited() {
    for (open, close) in [
        ("(", ")"),
        ("-", ""),
        ("not ", ""),
        ("a[", "]"),
        ("(int)", ""),
        ("sizeof ", ""),
        ("a and (", ")"),
        ("~", ""),
        ("+", ""),
        ("a ? ", " : b"),
        ("a ? b : ", ""),
        ("{int}", ""),
    ] {
        let text = format!("{}a{}", open.repeat(100_000), close.repeat(100_000));
        let (_, diagnostics) = parse_expression(&text);
        let codes: Vec<&str> = diagnostics.iter().map(|d| d.code).collect();
        assert!(codes.contains(&"too-deep"), "{open} {codes:?}");
    }
    for link in [" + a", "->a", "[0]", " or a"] {
        let text = format!("a{}", link.repeat(100_000));
        let (_, diagnostics) = parse_expression(&text);
        let codes: Vec<&str> = diagnostics.iter().map(|d| d.code).collect();
        assert!(codes.contains(&"too-long"), "{link} {codes:?}");
    }
}

/// The later walks over the tree, too.
#[test]
fn no_part_of_a_property_is_without_bound() {
    let nested = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(100_000), close.repeat(100_000))
    };
    let head = "property p \"\"\nevent a = before f(n)\nevent b = before g(n)\nvar x = 0\n";
    let formulas = [
        nested("(", "a", ")"),
        nested("not ", "a", ""),
        nested("always ", "a", ""),
        nested("next ", "a", ""),
        nested("once ", "a", ""),
        nested("always eventually ", "a", ""),
        nested("a and ", "a", ""),
        nested("a implies ", "a", ""),
        nested("a until ", "b", ""),
        nested("(a until ", "b", ")"),
        nested("a iff ", "a", ""),
    ];
    let sequences = [
        nested("(", "a", ")"),
        nested("", "a", "*"),
        nested("a then ", "a", ""),
        nested("a or ", "a", ""),
        nested("a | ", "a", ""),
        nested("a ; ", "a", ""),
    ];
    let updates = [
        nested("if x == 1 { ", "x = 1", " }"),
        nested("if x == 1 { x = 1 } else ", "x = 1", ""),
        nested("for i in 0..2 { ", "x = 1", " }"),
        nested("{ ", "x = 1", " }"),
        nested("x = ", "1", ""),
    ];
    let subjects = [
        nested("f<", "int", ">"),
        nested("f::", "g", ""),
        format!("f(n: int{})", "*".repeat(100_000)),
        format!("f(k = {})", nested("(", "n", ")")),
        format!("f(k = {})", nested("*", "n", "")),
        format!("f(k = n{})", ".x".repeat(100_000)),
        format!("f({}n)", "n, ".repeat(100_000)),
        format!(
            "f({}n)",
            (0..1000).map(|it| format!("n{it}, ")).collect::<String>()
        ),
    ];
    let texts = formulas.iter().map(|it| format!("{head}ltl {it}\n"));
    let texts = texts.chain(sequences.iter().map(|it| format!("{head}never {it}\n")));
    let texts = texts.chain(
        updates
            .iter()
            .map(|it| format!("{head}state s accepting {{ on a {{ {it} }} -> s }}\n")),
    );
    let texts = texts.chain(
        subjects
            .iter()
            .map(|it| format!("{head}event c = before {it}\nltl always c\n")),
    );
    let scenario = nested("if 1 == 1 { ", "stop \"\"", " }");
    let scenario =
        format!("{head}ltl always a\nscenario z \"\" for p\non violated {{ {scenario} }}");
    for text in texts.chain([scenario]) {
        let (_, diagnostics) = crate::load(&text);
        let shown: String = text.chars().skip(head.len()).take(60).collect();
        let is_refused = diagnostics.iter().any(crate::Diagnostic::is_error);
        // A long name is a name.
        assert!(is_refused || shown.contains("before f"), "{shown}");
    }
}
