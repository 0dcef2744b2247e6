//! Where arguments and results are: the same by every compiler, whether the
//! debug information says it (`-O2`) or the calling convention (`-O0`).

use crate::support::{Program, compile, compile_everywhere};
use juror_arch::{abi, dwarf};
use juror_symbols::{
    EntryError, EntryLocation, EntryPieceLocation, Function, Parameter, SymbolFile,
};

/// `rdi+0:4` for the first four bytes in a register, `[cfa+8]` for the stack,
/// `*rdi` for memory that it points to.
pub fn show(location: &EntryLocation) -> String {
    let pieces: Vec<String> = location
        .iter()
        .map(|piece| {
            let name = dwarf::name;
            let place = match &piece.location {
                EntryPieceLocation::Register(register) => name(*register),
                EntryPieceLocation::RegisterPart {
                    register,
                    shift_bits,
                } => format!("{}>>{shift_bits}", name(*register)),
                EntryPieceLocation::Stack(offset) => format!("[cfa+{offset}]"),
                EntryPieceLocation::PointedByRegister(register) => format!("*{}", name(*register)),
                EntryPieceLocation::PointedByStack(offset) => format!("*[cfa+{offset}]"),
                EntryPieceLocation::Constant(bytes) => format!("={}", bytes[0]),
                EntryPieceLocation::Unavailable(reason) => format!("<{reason}>"),
            };
            format!("{place}:{}", piece.size)
        })
        .collect();
    pieces.join("+")
}

fn plans(file: &SymbolFile, function: &Function) -> String {
    let mut words: Vec<String> = file
        .entry_value_plans(function)
        .iter()
        .map(|value| format!("{}={}", value.name, show(&value.location)))
        .collect();
    let result = file.return_value_plan(function).unwrap();
    let size: u32 = result.location.iter().map(|piece| piece.size).sum();
    words.push(match result.address_at_entry {
        Some(register) => format!("-> *entry {}:{size}", dwarf::name(register)),
        None => format!("-> {}", show(&result.location)),
    });
    words.join(" ")
}

fn check(programs: &[Program], table: &[(&str, &str)]) {
    for program in programs {
        for (name, expected) in table {
            let function = program.function(name);
            assert_eq!(
                plans(&program.file, &function),
                *expected,
                "{name} in {}",
                program.how
            );
        }
    }
}

/// The same for a call that is still to be made.
fn outgoing(file: &SymbolFile, function: &Function) -> String {
    let signature = file.signature(function).unwrap().unwrap();
    let types: Vec<_> = signature
        .parameters
        .iter()
        .map(|(_, of)| of.clone())
        .collect();
    let call = file.outgoing_call(function, &types, &signature.result);
    let mut words: Vec<String> = signature
        .parameters
        .iter()
        .zip(&call.arguments)
        .map(|((name, _), location)| format!("{name}={}", show(location)))
        .collect();
    words.push(format!("-> {}", show(&call.result.location)));
    words.join(" ")
}

const C_TYPES: &str = r#"
#include <complex.h>
struct small { int a; char b; };
struct mixed { double d; long l; };
struct floats { float x, y, z; };
struct big { long a[3]; };
struct around { long double v; };
struct packed { char c; int i; } __attribute__((packed));
union either { int i; float f; };
struct bits { unsigned a : 3, b : 29; };
struct nested { struct { short s[2]; } inner; float f; };
typedef int vector __attribute__((vector_size(16)));
#if defined(__clang__)
#define KEPT __attribute__((noinline, used))
#else
#define KEPT __attribute__((noinline, noipa))
#endif
KEPT int scalars(char c, short s, int i, long l, void *p, _Bool b, int seventh, char eighth) {
    return c + s + i + l + (p != 0) + b + seventh + eighth;
}
KEPT double floating(float f, double d, int i, double e) { return f + d + i + e; }
KEPT int structures(struct small s, struct mixed m, struct floats f, int last) {
    return s.a + s.b + m.l + (int)m.d + (int)(f.x + f.y + f.z) + last;
}
KEPT struct big large(struct big b, int x) { b.a[0] += x; return b; }
KEPT long double extended(long double v, int x) { return v + x; }
KEPT __int128 wide(int a, __int128 w, int b) { return a + w + b; }
KEPT double _Complex complexes(double _Complex z, float _Complex w) { return z + w; }
KEPT long double _Complex turned(long double _Complex z, int x) { return z + x; }
struct inside { double _Complex z; };
KEPT struct inside placed(struct inside s, int x) { s.z += x; return s; }
KEPT int odd(struct packed p, union either u, struct bits b, struct nested n) {
    return p.i + p.c + u.i + b.a + b.b + n.inner.s[0] + (int)n.f;
}
KEPT vector vectors(vector a, int b) { return a + b; }
KEPT struct mixed pair(void) { struct mixed m = {1, 2}; return m; }
KEPT struct around wrapped(struct around x) { x.v += 1; return x; }
int main(void) {
    struct big b = {{1, 2, 3}};
    return scalars(1, 2, 3, 4, 0, 1, 5, 6) + floating(1, 2, 3, 4)
        + structures((struct small){1, 2}, (struct mixed){1, 2}, (struct floats){1, 2, 3}, 4)
        + large(b, 1).a[0] + extended(1, 2) + wide(1, 2, 3)
        + (int)creal(complexes(1, 2)) + (int)__real__ turned(1, 2)
        + (int)creal(placed((struct inside){1}, 2).z)
        + odd((struct packed){1, 2}, (union either){1}, (struct bits){1, 2}, (struct nested){{{1, 2}}, 3})
        + vectors((vector){1, 2, 3, 4}, 1)[0] + pair().l + (int)wrapped((struct around){1}).v;
}
"#;

#[test]
fn arguments_of_c_are_where_the_convention_puts_them() {
    let table = [
        (
            "scalars",
            "c=rdi:1 s=rsi:2 i=rdx:4 l=rcx:8 p=r8:8 b=r9:1 seventh=[cfa+0]:4 eighth=[cfa+8]:1 -> rax:4",
        ),
        ("floating", "f=xmm0:4 d=xmm1:8 i=rdi:4 e=xmm2:8 -> xmm0:8"),
        (
            "structures",
            "s=rdi:8 m=xmm0:8+rsi:8 f=xmm1:8+xmm2:4 last=rdx:4 -> rax:4",
        ),
        ("large", "b=[cfa+0]:24 x=rsi:4 -> *rax:24"),
        ("extended", "v=[cfa+0]:16 x=rdi:4 -> st0:16"),
        ("wide", "a=rdi:4 w=rsi:8+rdx:8 b=rcx:4 -> rax:8+rdx:8"),
        ("complexes", "z=xmm0:8+xmm1:8 w=xmm2:8 -> xmm0:8+xmm1:8"),
        ("turned", "z=[cfa+0]:32 x=rdi:4 -> st0:16+st1:16"),
        ("placed", "s=xmm0:8+xmm1:8 x=rdi:4 -> xmm0:8+xmm1:8"),
        ("odd", "p=[cfa+0]:5 u=rdi:4 b=rsi:4 n=rdx:8 -> rax:4"),
        ("vectors", "a=xmm0:16 b=rdi:4 -> xmm0:16"),
        ("pair", "-> xmm0:8+rax:8"),
        ("wrapped", "x=[cfa+0]:16 -> st0:16"),
    ];
    for level in ["-O0", "-O1", "-O2"] {
        for program in compile_everywhere(C_TYPES, level) {
            // Optimized code of clang does not say where all parameters are.
            let may_be_silent = level != "-O0" && program.how.starts_with("clang");
            for (name, expected) in table {
                let found = plans(&program.file, &program.function(name));
                let is_silent = found.contains("the function may not use this parameter");
                if !(may_be_silent && is_silent) {
                    assert_eq!(found, expected, "{name} in {}", program.how);
                }
            }
        }
    }
}

#[test]
fn calls_to_be_made_follow_the_convention() {
    // What callees of every compiler find, a caller must put there.
    for program in compile_everywhere(C_TYPES, "-O0") {
        for name in [
            "scalars",
            "floating",
            "structures",
            "large",
            "extended",
            "wide",
            "complexes",
            "turned",
            "placed",
            "odd",
            "vectors",
            "pair",
            "wrapped",
        ] {
            let function = program.function(name);
            assert_eq!(
                outgoing(&program.file, &function),
                plans(&program.file, &function),
                "{name} in {}",
                program.how
            );
        }
    }
}

#[test]
fn a_call_to_be_made_tells_stack_and_vector_registers() {
    let source = r#"
struct large { long a[3]; };
struct large make(int a, int b, int c, int d, int e, int f, double x, float y) {
    return (struct large){{a + b + c, d + e + f, x + y}};
}
int sum(int count, ...) { return count; }
int old() { return 1; }
int main(void) { return make(1, 2, 3, 4, 5, 6, 7, 8).a[0] + sum(0) + old(); }
"#;
    for program in compile_everywhere(source, "-O0") {
        let call_of = |name: &str| {
            let function = program.function(name);
            let signature = program.file.signature(&function).unwrap().unwrap();
            let types: Vec<_> = signature
                .parameters
                .iter()
                .map(|(_, of)| of.clone())
                .collect();
            let call = program
                .file
                .outgoing_call(&function, &types, &signature.result);
            (call, signature.variadic)
        };
        let (make, variadic) = call_of("make");
        assert_eq!(
            make.result_pointer,
            Some(abi::INTEGER_ARGUMENTS[0]),
            "{}",
            program.how
        );
        // The hidden pointer leaves five registers for six integers.
        assert_eq!(
            (make.stack_size, make.vector_count, variadic),
            (8, 2, false)
        );
        assert!(call_of("sum").1, "{}", program.how);
    }
}

const CPP_TYPES: &str = r#"
struct Plain { long a, b; };
struct Owner { int *p; Owner(int *p) : p(p) {} Owner(const Owner &o) : p(o.p) {} ~Owner() { p = nullptr; } };
struct Holder { Owner owner; };
struct Shape { virtual ~Shape() {} int sides = 3; __attribute__((noinline)) int count(int more) const; };
struct Empty {};
int Shape::count(int more) const { return sides + more; }
__attribute__((noinline)) long take(Plain plain, Owner owner, const Owner &reference, int last) {
    return plain.a + *owner.p + *reference.p + last;
}
__attribute__((noinline)) int nameless(int, int second) { return second; }
__attribute__((noinline)) Owner make(int *p, int x) { *p = x; return Owner(p); }
__attribute__((noinline)) int hold(Holder holder, Empty, int x) { return *holder.owner.p + x; }
int main(int argc, char **) {
    Shape shape;
    return take({1, 2}, Owner(&argc), Owner(&argc), 3) + *make(&argc, 4).p + hold({Owner(&argc)}, {}, 5) + shape.count(1) + nameless(1, 2);
}
"#;

#[test]
fn arguments_of_cpp_are_where_the_convention_puts_them() {
    for compiler in ["g++", "clang++"] {
        for format in ["-gdwarf-4", "-gdwarf-5"] {
            let program = compile(compiler, "program.cc", CPP_TYPES, &["-O0", format]);
            let Some(program) = program else { continue };
            // An argument without bytes takes no register.
            let hold = program.function("hold");
            let plan = |name| {
                program
                    .file
                    .entry_value_plan(&hold, Parameter::Name(name))
                    .unwrap()
                    .location
            };
            assert_eq!(show(&plan("holder")), "*rdi:8", "{}", program.how);
            assert_eq!(show(&plan("x")), "rsi:4", "{}", program.how);
            check(
                &[program],
                &[
                    (
                        "take",
                        "plain=rdi:8+rsi:8 owner=*rdx:8 reference=rcx:8 last=r8:4 -> rax:8",
                    ),
                    ("nameless", "=rdi:4 second=rsi:4 -> rax:4"),
                    ("make", "p=rsi:8 x=rdx:4 -> *rax:8"),
                    ("Shape::count", "this=rdi:8 more=rsi:4 -> rax:4"),
                ],
            );
        }
    }
}

#[test]
fn arguments_of_rust_are_found() {
    let source = r#"
pub struct Point { x: f64, y: u32 }
pub struct Large { values: [u64; 4] }
#[inline(never)]
pub fn simple(a: u8, b: &str, c: &[u32], d: f64, e: bool) -> u64 {
    a as u64 + b.len() as u64 + c.len() as u64 + d as u64 + e as u64
}
#[inline(never)]
pub fn structures(point: Point, large: Large, _: (), last: u16) -> Large {
    Large { values: [point.x as u64, point.y as u64, large.values[0], last as u64] }
}
fn main() {
    let n = std::env::args().count();
    let large = structures(Point { x: n as f64, y: 2 }, Large { values: [n as u64; 4] }, (), 7);
    std::process::exit((simple(n as u8, "text", &[1, 2], 1.5, true) + large.values[1]) as i32);
}
"#;
    let Some(program) = compile("rustc", "program.rs", source, &["-g"]) else {
        return;
    };
    check(
        &[program],
        &[
            (
                "simple",
                "a=rdi:1 b=rsi:8+rdx:8 c=rcx:8+r8:8 d=xmm0:8 e=r9:1 -> rax:8",
            ),
            (
                "structures",
                "point=xmm0:8+rsi:4 large=*rdx:32 = last=rcx:2 -> *entry rdi:32",
            ),
        ],
    );
}

/// What rustc 1.95 does, by the code that it makes with and without optimization.
const RUST_SHAPES: [(&str, &str, &str); 45] = [
    ("(i32, i32)", "rsi:4+rdx:4", "rax:4+rdx:4"),
    ("P3", "*rsi:12", "*rax:12"),
    ("C3", "*rsi:12", "*rax:12"),
    ("(i64, u8, u8)", "*rsi:16", "*rax:16"),
    ("(i64, u8)", "rsi:8+rdx:1", "rax:8+rdx:1"),
    ("(u8, u64)", "rsi:1+rdx:8", "rax:1+rdx:8"),
    ("(f32, f32)", "xmm0:4+xmm1:4", "xmm0:4+xmm1:4"),
    ("(f32, f32, f32)", "*rsi:12", "*rax:12"),
    ("(f64, f64)", "xmm0:8+xmm1:8", "xmm0:8+xmm1:8"),
    ("(i64, f64)", "rsi:8+xmm0:8", "rax:8+xmm0:8"),
    ("(f32, i32)", "xmm0:4+rsi:4", "xmm0:4+rax:4"),
    ("(i32, f64, u8)", "*rsi:16", "*rax:16"),
    ("(u8, u8, u8)", "rsi:3", "rax:3"),
    ("(u8, u8, u8, u8)", "rsi:4", "rax:4"),
    ("((u8, u8),)", "rsi:1+rdx:1", "rax:1+rdx:1"),
    ("(u8, (u16, u8))", "rsi:6", "rax:6"),
    ("((u32, u32), u64)", "*rsi:16", "*rax:16"),
    ("(f64, ())", "xmm0:8", "xmm0:8"),
    ("[i32; 1]", "rsi:4", "rax:4"),
    ("[i32; 2]", "rsi:8", "rax:8"),
    ("[i32; 3]", "*rsi:12", "*rax:12"),
    ("[i64; 2]", "*rsi:16", "*rax:16"),
    ("[u8; 7]", "rsi:7", "rax:7"),
    ("[f64; 1]", "rsi:8", "rax:8"),
    ("([f64; 1],)", "rsi:8", "rax:8"),
    ("[f32; 2]", "rsi:8", "rax:8"),
    ("[f64; 2]", "*rsi:16", "*rax:16"),
    ("([u8; 8], u64)", "*rsi:16", "*rax:16"),
    ("u128", "rsi:8+rdx:8", "rax:8+rdx:8"),
    ("(u128,)", "rsi:8+rdx:8", "rax:8+rdx:8"),
    ("A8", "rsi:8", "rax:8"),
    ("A16", "*rsi:16", "*rax:16"),
    ("Packed", "rsi:8", "rax:8"),
    ("Whole", "rsi:4", "rax:4"),
    ("std::mem::MaybeUninit<f64>", "xmm0:8", "xmm0:8"),
    ("&'static str", "rsi:8+rdx:8", "rax:8+rdx:8"),
    ("Option<i32>", "rsi:4+rdx:4", "rax:4+rdx:4"),
    ("Option<f64>", "rsi:8+xmm0:8", "rax:8+xmm0:8"),
    ("Option<(u8, u8)>", "rsi:3", "rax:3"),
    ("Option<(i32, i32)>", "*rsi:12", "*rax:12"),
    ("Option<&'static str>", "rsi:8+rdx:8", "rax:8+rdx:8"),
    ("Result<u64, ()>", "rsi:8+rdx:8", "rax:8+rdx:8"),
    ("Result<f64, u64>", "*rsi:16", "*rax:16"),
    ("Result<f32, u32>", "rsi:8", "rax:8"),
    ("Triple", "*rsi:12", "*rax:12"),
];

#[test]
fn values_of_rust_are_scalars_pairs_or_memory() {
    let mut source = r#"
#[derive(Clone, Copy)] pub struct P3 { x: i32, y: i32, z: i32 }
#[derive(Clone, Copy)] #[repr(C)] pub struct C3 { x: i32, y: i32, z: i32 }
#[derive(Clone, Copy)] #[repr(align(8))] pub struct A8 { x: i32 }
#[derive(Clone, Copy)] #[repr(align(16))] pub struct A16 { x: i32 }
#[derive(Clone, Copy)] #[repr(packed)] pub struct Packed { x: i32, y: i32 }
#[derive(Clone, Copy)] pub union Whole { x: i32, y: f32 }
#[derive(Clone, Copy)] pub enum Triple { A(i32, i32), B }
"#
    .to_owned();
    for (at, (of, ..)) in RUST_SHAPES.iter().enumerate() {
        source.push_str(&format!(
            "#[inline(never)] pub fn f{at}(a: i32, v: {of}) -> {of} {{ std::hint::black_box(a + {at}); v }}\n"
        ));
    }
    source.push_str(
        "#[inline(never)] #[unsafe(no_mangle)] pub fn bare(p: P3) -> i32 { p.x + p.y + p.z }\n",
    );
    source.push_str("pub fn main() {\n");
    for at in 0..RUST_SHAPES.len() {
        source.push_str(&format!("    std::hint::black_box(f{at} as *const ());\n"));
    }
    source.push_str("    std::hint::black_box(bare as *const ());\n}\n");
    for level in ["0", "3"] {
        let flags = ["-g", "-C", &format!("opt-level={level}")];
        let Some(program) = compile("rustc", "program.rs", &source, &flags) else {
            return;
        };
        for (at, (of, argument, result)) in RUST_SHAPES.iter().enumerate() {
            // The arguments come behind the address of a result in memory.
            let pointer = result.starts_with('*');
            let argument = argument
                .replace("rdx", if pointer { "rcx" } else { "rdx" })
                .replace("rsi", if pointer { "rdx" } else { "rsi" });
            let first = if pointer { "rsi" } else { "rdi" };
            assert_eq!(
                outgoing(&program.file, &program.function(&format!("f{at}"))),
                format!("a={first}:4 v={argument} -> {result}"),
                "{of} at level {level}"
            );
        }
        // It may be one for C, and an optimizer may have changed it.
        let undefined = "<the language does not define how values of this type are passed>";
        let changed = "<optimized out: the compiler changed how this function is called>";
        let reason = if level == "0" { undefined } else { changed };
        assert_eq!(
            outgoing(&program.file, &program.function("bare")),
            format!("p={reason}:12 -> rax:4")
        );
    }
}

#[test]
fn a_parameter_that_is_not_there_is_named_in_the_message() {
    let source = "int twice(int value, int times) { return value * times; }\nint main(void) { return twice(1, 2); }";
    let Some(program) = compile("gcc", "program.c", source, &["-g"]) else {
        return;
    };
    let twice = program.function("twice");
    let plan = |parameter| program.file.entry_value_plan(&twice, parameter);
    assert_eq!(&*plan(Parameter::Position(2)).unwrap().name, "times");
    for (parameter, expected) in [
        (
            Parameter::Name("valeu"),
            "`twice` has no parameter `valeu`; it has value, times",
        ),
        (
            Parameter::Position(3),
            "`twice` has no parameter 3; it has value, times",
        ),
        (
            Parameter::Position(0),
            "`twice` has no parameter 0; it has value, times",
        ),
    ] {
        assert_eq!(plan(parameter).unwrap_err().to_string(), expected);
    }
    let Some(bare) = compile("gcc", "program.c", source, &["-g0"]) else {
        return;
    };
    let error = bare
        .file
        .entry_value_plan(&bare.function("twice"), Parameter::Position(1))
        .unwrap_err();
    assert!(matches!(error, EntryError::NoDebugInfo { .. }), "{error}");
    assert!(
        bare.file
            .return_value_plan(&bare.function("twice"))
            .is_none()
    );
}

#[test]
fn what_gcc_changed_in_a_copy_is_not_guessed() {
    let source = r#"
volatile int sink;
__attribute__((noinline)) static int copied(int flag, int removed, int kept) {
    if (flag == 7) { for (int i = 0; i < kept; i++) sink += i; return kept * 3; }
    return kept;
}
int main(int argc, char **argv) { return copied(7, 1, argc) + copied(7, 2, argc + 3); }
"#;
    let Some(program) = compile("gcc", "program.c", source, &["-O2", "-g"]) else {
        return;
    };
    let copied = program.function("copied");
    if copied.linkage_name.as_deref() == Some("copied") {
        println!("skipped: this gcc makes no copy");
        return;
    }
    let show_named = |name| {
        show(
            &program
                .file
                .entry_value_plan(&copied, Parameter::Name(name))
                .unwrap()
                .location,
        )
    };
    assert_eq!(show_named("kept"), "rdi:4");
    assert_eq!(show_named("flag"), "=7:4");
}

#[test]
fn what_callers_need_not_pass_is_not_guessed() {
    let source = r#"
volatile int sink;
__attribute__((noinline)) static int internal(int used, int unused) { sink = used; return 1; }
int main(int argc, char **argv) { return internal(argc, 2) + internal(1, argc); }
"#;
    for (level, unused) in [("-O1", "<optimized out"), ("-O0", "rsi:4")] {
        let Some(program) = compile("clang", "program.c", source, &[level, "-g"]) else {
            return;
        };
        let internal = program.function("internal");
        let show_named = |name| {
            let plan = program
                .file
                .entry_value_plan(&internal, Parameter::Name(name));
            show(&plan.unwrap().location)
        };
        assert_eq!(show_named("used"), "rdi:4", "{level}");
        let shown = show_named("unused");
        assert!(shown.starts_with(unused), "{level}: {shown}");
    }
}

#[test]
fn what_is_copied_by_code_of_its_own_is_passed_by_its_address() {
    let source = r#"
struct Copied { int x; Copied(int x) : x(x) {} Copied(const Copied &other) : x(other.x) {} };
struct Moved { int x; Moved(int x) : x(x) {} Moved(const Moved &) = default; Moved(Moved &&other) : x(other.x) {} };
struct Later { int x; Later(int x) : x(x) {} Later(const Later &); };
Later::Later(const Later &) = default;
struct Plain { int x; Plain(int x) : x(x) {} Plain(const Plain &) = default; Plain(const int *p) : x(*p) {} };
struct Taken { int x; Taken(int x) : x(x) {} Taken(const Taken &) = delete; Taken(Taken &&) = default; };
struct Around { Copied inside; };
__attribute__((noinline)) int copied(Copied it, int after) { return it.x + after; }
__attribute__((noinline)) int moved(Moved it, int after) { return it.x + after; }
__attribute__((noinline)) int later(Later it, int after) { return it.x + after; }
__attribute__((noinline)) int plain(Plain it, int after) { return it.x + after; }
__attribute__((noinline)) int taken(Taken it, int after) { return it.x + after; }
__attribute__((noinline)) int around(Around it, int after) { return it.inside.x + after; }
__attribute__((noinline)) Moved made() { return Moved(3); }
int main() {
    Copied c(1); Later l(1);
    Around a = {c};
    return copied(c, 1) + moved(Moved(1), 2) + later(l, 3) + plain(Plain(1), 4) + taken(Taken(1), 5)
        + around(a, 6) + made().x;
}
"#;
    for compiler in ["g++", "clang++"] {
        let Some(program) = compile(compiler, "program.cpp", source, &["-O0", "-g"]) else {
            continue;
        };
        for (name, expected) in [
            ("copied", "it=*rdi:4 after=rsi:4 -> rax:4"),
            ("moved", "it=*rdi:4 after=rsi:4 -> rax:4"),
            ("later", "it=*rdi:4 after=rsi:4 -> rax:4"),
            ("plain", "it=rdi:4 after=rsi:4 -> rax:4"),
            ("taken", "it=rdi:4 after=rsi:4 -> rax:4"),
            ("around", "it=*rdi:4 after=rsi:4 -> rax:4"),
            ("made", "-> *rax:4"),
        ] {
            let function = program.function(name);
            assert_eq!(
                plans(&program.file, &function),
                expected,
                "{name} {compiler}"
            );
        }
    }
}
