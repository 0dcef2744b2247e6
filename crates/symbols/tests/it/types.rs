//! Types: their names, sizes and parts.

use crate::support::{Program, compile, compile_everywhere};
use juror_symbols::{Access, ClassMemberKind, Encoding, Type, TypeKind};
use juror_testing::is_installed;

const PROGRAM: &str = r#"
#include <stddef.h>
struct node;
typedef struct node node_t;
typedef int (*compare_t)(const void *, const void *);
enum color { RED, GREEN = 5, BLUE = -1 };
typedef unsigned long counter_t;
struct node {
    node_t *next;
    counter_t count;
    const char *name;
    char text[16];
    int grid[2][3];
    unsigned low : 3, high : 5;
    enum color color;
    union { int number; float real; };
    struct { short x, y; } point;
    compare_t compare;
    volatile int flags;
    _Bool done;
    long double precise;
    void (*hook)(struct node *, int, ...);
    int (*rows)[4];
    char *const fixed;
};
struct node global_node;
static int file_static = 3;
int *global_pointer = &file_static;
int main(void) { return (int)global_node.count + file_static; }
"#;

fn global(program: &Program, name: &str) -> Type {
    let found = program.file.globals_named(name);
    assert_eq!(found.len(), 1, "{name} in {}", program.how);
    found[0].r#type.clone()
}

#[test]
fn fields_have_the_names_offsets_and_sizes_of_the_compiler() {
    for program in compile_everywhere(PROGRAM, "-O0") {
        let how = &program.how;
        let node = global(&program, "global_node");
        assert_eq!(node.name(), "struct node", "{how}");
        for (field, offset, size, name) in [
            ("next", 0, 8, "node_t *"),
            ("count", 8, 8, "counter_t"),
            ("name", 16, 8, "const char *"),
            ("text", 24, 16, "char [16]"),
            ("grid", 40, 24, "int [2][3]"),
            ("color", 68, 4, "enum color"),
            ("number", 72, 4, "int"),
            ("real", 72, 4, "float"),
            ("point", 76, 4, "struct {...}"),
            ("compare", 80, 8, "compare_t"),
            ("flags", 88, 4, "volatile int"),
            ("done", 92, 1, "_Bool"),
            ("precise", 96, 16, "long double"),
            ("hook", 112, 8, "void (*)(struct node *, int, ...)"),
            ("rows", 120, 8, "int (*)[4]"),
            ("fixed", 128, 8, "char *const"),
        ] {
            let found = node
                .field(field)
                .unwrap_or_else(|| panic!("{field} in {how}"));
            assert_eq!(found.offset, offset, "{field} in {how}");
            assert_eq!(found.r#type.size(), Some(size), "{field} in {how}");
            assert_eq!(found.r#type.name(), name, "{field} in {how}");
        }
        let bits = node.field("high").unwrap().bits.unwrap();
        assert_eq!((bits.offset_bits, bits.size_bits), (64 * 8 + 3, 5), "{how}");
        assert!(node.field("absent").is_none());
        assert!(node.field_names().iter().any(|name| &**name == "real"));
        assert_eq!(
            node.field("hook").unwrap().r#type.declaration("hook"),
            "void (*hook)(struct node *, int, ...)"
        );
    }
}

#[test]
fn kinds_of_types_can_be_looked_into() {
    for program in compile_everywhere(PROGRAM, "-O0") {
        let how = &program.how;
        let node = global(&program, "global_node");
        let field = |name: &str| node.field(name).unwrap().r#type;
        assert!(
            matches!(
                field("count").strip().kind(),
                TypeKind::Base(Encoding::Unsigned)
            ),
            "{how}"
        );
        assert!(
            matches!(field("done").kind(), TypeKind::Base(Encoding::Boolean)),
            "{how}"
        );
        assert_eq!(
            field("next").target().unwrap().strip(),
            node.strip(),
            "{how}"
        );
        let TypeKind::Enumeration { enumerators, .. } = field("color").kind() else {
            panic!("{how}")
        };
        let values: Vec<(&str, i128)> = enumerators.iter().map(|e| (&*e.name, e.value)).collect();
        assert_eq!(values, [("RED", 0), ("GREEN", 5), ("BLUE", -1)], "{how}");
        let TypeKind::Array { dimensions, .. } = field("grid").kind() else {
            panic!("{how}")
        };
        assert_eq!(dimensions, [Some(2), Some(3)], "{how}");
        assert!(field("compare").is_pointer() && !field("count").is_pointer());
        assert!(!field("point").composite().unwrap().incomplete);
    }
}

#[test]
fn types_are_found_by_the_names_of_casts() {
    for program in compile_everywhere(PROGRAM, "-O0") {
        for (name, expected) in [
            ("struct node", Some(("struct node", Some(144)))),
            ("node_t", Some(("node_t", Some(144)))),
            ("node_t *", Some(("node_t *", Some(8)))),
            ("const struct node **", Some(("struct node **", Some(8)))),
            ("enum color", Some(("enum color", Some(4)))),
            ("unsigned long", Some(("unsigned long", Some(8)))),
            ("void *", Some(("void *", Some(8)))),
            ("struct color", None),
            ("struct absent", None),
            ("absent_t", None),
        ] {
            let found = program
                .file
                .type_named(name)
                .map(|found| (found.name(), found.size()));
            let expected = expected.map(|(name, size)| (name.to_owned(), size));
            assert_eq!(found, expected, "{name} in {}", program.how);
        }
    }
}

#[test]
fn an_incomplete_type_is_completed_by_another_file() {
    let source = "struct hidden; struct hidden *make(void);\nstruct hidden *pointer;\n#include \"other.c\"\nint main(void) { pointer = make(); return 0; }";
    // One unit only declares the structure, the other defines it.
    let directory = tempfile::TempDir::new().unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    write("main.c", &source.replace("#include \"other.c\"\n", ""));
    write(
        "other.c",
        "struct hidden { int a, b; }; static struct hidden it = {1, 2};\nstruct hidden *make(void) { return &it; }",
    );
    if !is_installed("gcc") {
        return;
    }
    let path = directory.path().join("program");
    let status = std::process::Command::new("gcc")
        .current_dir(directory.path())
        .args(["-g", "-o", "program", "main.c", "other.c"])
        .status();
    assert!(status.unwrap().success());
    let file = juror_symbols::SymbolFile::open(path).unwrap();
    let pointer = &file.globals_named("pointer")[0];
    let hidden = pointer.r#type.target().unwrap();
    assert_eq!(hidden.size(), Some(8));
    assert_eq!(hidden.field("b").unwrap().offset, 4);
    assert_eq!(file.globals_named("other.c::it").len(), 1);
    assert!(file.globals_named("main.c::it").is_empty());
}

#[test]
fn classes_have_bases_and_scopes() {
    let source = r#"
namespace ns {
struct Base { int common; };
struct Other { long wide; };
class Derived : public Base, public Other { public: int own; static int shared; };
int Derived::shared = 1;
struct Holder { Derived &reference; const Derived *pointer; };
}
ns::Derived derived;
ns::Holder holder{derived, &derived};
int main() { return derived.own + ns::Derived::shared; }
"#;
    for compiler in ["g++", "clang++"] {
        let Some(program) = compile(compiler, "program.cc", source, &["-g"]) else {
            continue;
        };
        let how = &program.how;
        let derived = global(&program, "derived");
        assert_eq!(derived.name(), "ns::Derived", "{how}");
        assert_eq!(derived.field("common").unwrap().offset, 0, "{how}");
        assert_eq!(derived.field("wide").unwrap().offset, 8, "{how}");
        assert_eq!(derived.field("own").unwrap().offset, 16, "{how}");
        assert!(derived.field("shared").is_none(), "{how}");
        let holder = global(&program, "holder");
        assert_eq!(
            holder.field("reference").unwrap().r#type.name(),
            "ns::Derived &",
            "{how}"
        );
        assert_eq!(
            holder.field("pointer").unwrap().r#type.name(),
            "const ns::Derived *",
            "{how}"
        );
        assert_eq!(
            program.file.type_named("ns::Derived").unwrap().size(),
            Some(24),
            "{how}"
        );
        assert_eq!(
            program.file.type_named("Derived *").unwrap().name(),
            "ns::Derived *",
            "{how}"
        );
        assert_eq!(
            program.file.globals_named("ns::Derived::shared").len(),
            1,
            "{how}"
        );
    }
}

#[test]
fn enumerations_of_rust_have_variants() {
    let source = r#"
pub enum Shape { Circle(u32), Square { side: u64 }, Nothing }
pub struct Wrapper { pub shape: Shape, pub name: &'static str }
#[inline(never)] #[unsafe(no_mangle)]
pub fn look(wrapper: &Wrapper) -> u64 {
    match wrapper.shape { Shape::Circle(r) => r as u64, Shape::Square { side } => side, Shape::Nothing => 0 }
}
fn main() {
    let shape = match std::env::args().count() { 1 => Shape::Circle(1), 2 => Shape::Square { side: 2 }, _ => Shape::Nothing };
    std::process::exit(look(&Wrapper { shape, name: "x" }) as i32);
}
"#;
    let Some(program) = compile("rustc", "program.rs", source, &["-g"]) else {
        return;
    };
    let parameters = program.file.parameters(&program.function("look"));
    let wrapper = parameters[0].r#type.target().unwrap();
    assert_eq!(wrapper.name(), "program::Wrapper");
    assert_eq!(parameters[0].r#type.name(), "&program::Wrapper");
    let shape = wrapper.field("shape").unwrap().r#type.composite().unwrap();
    let part = shape.variants.as_ref().unwrap();
    assert!(part.discriminant.is_some());
    let names: Vec<Option<&str>> = part
        .variants
        .iter()
        .map(|v| v.field.name.as_deref())
        .collect();
    assert_eq!(names, [Some("Circle"), Some("Square"), Some("Nothing")]);
    let square = &part.variants[1].field;
    assert!(square.r#type.field("side").is_some());
}

const CLASSES: &str = r#"
struct Shape {
    int width;
    virtual ~Shape() {}
    virtual int area() const = 0;
};
struct Named { const char *name; };
template <typename T, int N> class Box : public Shape, private virtual Named {
public:
    typedef T value_type;
    explicit Box(T x) : kept(x) {}
    Box(const Box &other) = delete;
    Box(Box &&other) : kept(other.kept) {}
    ~Box() override {}
    int area() const override { return N; }
    value_type *all(int first, ...) { return &kept + first; }
    static int made(const char *(*name)(T)) { return name != nullptr; }
    operator bool() const { return true; }
    Box &operator+=(T x) { kept += x; return *this; }
    template <typename U> U as(U u) volatile { return u; }
    int once() && { return kept; }
protected:
    T kept;
    unsigned bits : 3;
private:
    void secret() const & {}
public:
    void reveal() { secret(); }
};
class Tally { int count; public: static int total; int seen; };
int Tally::total = 3;
class Open { public: int x; };
struct Plain { int x; };
struct Derived : Plain {};
class Closed : Plain {};
int main() {
    Box<int, 3> box(3);
    Box<int, 3> moved(static_cast<Box<int, 3> &&>(box));
    Tally tally; Open open; Derived derived; Closed closed;
    tally.seen = box.area() + *box.all(0) + Box<int, 3>::made(nullptr) + (box ? 1 : 0);
    box += 2; box.as<double>(3); box.reveal();
    (void)open; (void)derived; (void)closed;
    Box<int, 3>::value_type last = static_cast<Box<int, 3> &&>(moved).once();
    return tally.seen + last;
}
"#;

/// Checks what a class declares, with who may use it: `+` everybody, `#` what is derived
/// from it, `-` itself.
fn check_members(program: &Program, class: &str, expected: &[&str]) {
    let class = program.file.type_named(class).expect(class);
    let sign = |access: Access| match access {
        Access::Public => '+',
        Access::Protected => '#',
        Access::Private => '-',
    };
    let bases = class.composite().expect("a class").bases.clone();
    let bases = bases.iter().map(|base| {
        let word = if base.is_virtual() { "virtual " } else { "" };
        format!("{} : {word}{}", sign(base.access), base.r#type.name())
    });
    let members = class.class_members();
    let members = members.iter().map(|member| {
        let text = match &member.kind {
            ClassMemberKind::Field(field) => {
                let name = field.name.as_deref().unwrap_or_default();
                field.r#type.declaration(name)
            }
            ClassMemberKind::Static(text) | ClassMemberKind::Function(text) => text.clone(),
        };
        format!("{} {text}", sign(member.access))
    });
    let mut found: Vec<String> = bases.chain(members).collect();
    found.sort();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected, "{} {}", class.name(), program.how);
}

#[test]
fn classes_declare_members_and_who_may_use_them() {
    for compiler in ["g++", "clang++"] {
        for format in ["-gdwarf-4", "-gdwarf-5"] {
            let options = ["-O0", "-std=c++17", format];
            let Some(program) = compile(compiler, "classes.cpp", CLASSES, &options) else {
                continue;
            };
            // clang tells that in version 5 alone.
            let deleted = match (compiler, format) {
                ("clang++", "-gdwarf-4") => "",
                _ => " = delete",
            };
            check_members(
                &program,
                "Box<int, 3>",
                &[
                    "+ : Shape",
                    "- : virtual Named",
                    "+ explicit Box(int)",
                    &format!("+ Box(const Box<int, 3> &){deleted}"),
                    "+ Box(Box<int, 3> &&)",
                    "+ virtual ~Box()",
                    "+ virtual int area() const",
                    "+ Box<int, 3>::value_type *all(int, ...)",
                    "+ static int made(const char *(*)(int))",
                    "+ operator bool() const",
                    "+ Box<int, 3> &operator+=(int)",
                    "+ double as<double>(double) volatile",
                    "+ int once() &&",
                    "# int kept",
                    "# unsigned int bits",
                    "- void secret() const &",
                    "+ void reveal()",
                ],
            );
            check_members(
                &program,
                "Tally",
                &["- int count", "+ static int total", "+ int seen"],
            );
            check_members(&program, "Open", &["+ int x"]);
            check_members(&program, "Plain", &["+ int x"]);
            check_members(&program, "Derived", &["+ : Plain"]);
            check_members(&program, "Closed", &["- : Plain"]);
        }
    }
}
