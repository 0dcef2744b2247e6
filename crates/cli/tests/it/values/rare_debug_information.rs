//! Forms of debug information that compilers write seldom: what they describe is read, or
//! said not to be known.

use crate::support::dialog::{check_at_looks, dialog};
use crate::support::printed::plain_builds;
use crate::support::{Batch, property_of};
use juror_testing::{Fixture, Language};

const PACKED: &str = "
#pragma GCC diagnostic ignored \"-Wpacked-bitfield-compat\"
struct __attribute__((packed)) narrow { unsigned char a : 7; unsigned char b : 4; unsigned char c : 5; };
struct __attribute__((packed)) wide { unsigned long a : 3; long b : 62; unsigned c : 31; };
struct __attribute__((packed)) odd { char first; int a : 13; int b : 13; short last; };
struct narrow n; struct wide w; struct odd o;
void look(void) {}
int check(struct narrow *it) { return it->b == 9; }
int main(void)
{
    n = (struct narrow){65, 9, 21};
    w = (struct wide){5, -3, 77};
    o = (struct odd){1, -4000, 4000, 9};
    look();
    return check(&n) ? 0 : 1;
}";

#[test]
fn packed_bit_fields_are_read_and_assigned_alone() {
    let rows = &[
        (1, "print n", "={a = 65 'A', b = 9 '\\t', c = 21 '\\025'}"),
        (1, "print n.b == 9", "=true"),
        (1, "print w.a", "=5"),
        (1, "print w.b", "=-3"),
        (1, "print w.c", "=77"),
        (1, "print o.a", "=-4000"),
        (1, "print o.b", "=4000"),
        (1, "print o.last", "=9"),
        (1, "set var n.b = 5", "5"),
        (1, "print n.a + 0", "=65"),
        (1, "print n.b + 0", "=5"),
        (1, "print n.c + 0", "=21"),
        (1, "set var w.b = -7", "-7"),
        (1, "print w.a + 0", "=5"),
        (1, "print w.b + 0", "=-7"),
        (1, "print w.c + 0", "=77"),
    ];
    for version in ["2", "3", "4", "5"] {
        for build in plain_builds(Language::C) {
            let fixture = Fixture::c("packed", PACKED).argument(&format!("-gdwarf-{version}"));
            let executable = fixture.compile(&build);
            let how = format!("{build}, DWARF {version}");
            check_at_looks(&executable, &how, rows);
            let event = "event seen = before check(b = it->b, c = it->c)";
            let report = Batch::watching(&property_of(event)).run(&executable, &[]);
            assert_eq!(report.values("seen", "b"), [9], "{how}");
            assert_eq!(report.values("seen", "c"), [21], "{how}");
            let condition = "break check if it->b == 9";
            let answers = dialog(&executable, &[condition, "run", "kill"]);
            assert!(answers[1].contains("Breakpoint"), "{how}: {answers:?}");
        }
    }
}

const CHANGES: &str = "
struct { unsigned a : 3; unsigned b : 5; unsigned c : 24; } bits;
int main(void)
{
    for (int i = 0; i < 4; i++) { bits.a = i; bits.b = 3; bits.c = i * 100; }
    return 0;
}";

#[test]
fn the_change_of_a_bit_field_is_none_of_its_neighbours() {
    for build in plain_builds(Language::C) {
        let executable = Fixture::c("changes", CHANGES).compile(&build);
        for (field, count) in [("a", 3), ("b", 1), ("c", 3)] {
            let change = format!("change bits.{field}");
            let commands = [
                "break main",
                "run",
                &change,
                "ignore 2 1000",
                "continue",
                "info watchpoints",
            ];
            let answers = dialog(&executable, &commands);
            let hits = format!(" {count}");
            assert!(answers[5].ends_with(&hits), "{field}, {build}: {answers:?}");
        }
    }
}

const TYPES: &str = "
#include <map>
#include <string>
#include <vector>
namespace shop { struct Item { int price; struct Part { int k; }; Part part; enum Kind { Small, Large } kind; }; }
template <class T> struct Bag { std::vector<T> held; };
void look() {}
int main()
{
    std::vector<int> numbers{1, 2, 3};
    std::map<std::string, int> ages{{\"ann\", 7}};
    std::string name = \"text\";
    shop::Item item{5, {6}, shop::Item::Large};
    Bag<int> bag{{4, 5}};
    look();
    return (int)numbers.size() + (int)ages.size() + (int)name.size() + item.price == 13 ? 0 : 1;
}";

#[test]
fn types_in_units_of_their_own_have_their_scopes() {
    let rows = &[
        (1, "print numbers", "={1, 2, 3}"),
        (1, "print ages[\"ann\"]", "=7"),
        (1, "print name == \"text\"", "=true"),
        (1, "whatis item", "=shop::Item"),
        (1, "print item.kind", "Large"),
        (1, "print ((shop::Item *)&item)->price", "=5"),
        (1, "print bag.held", "={4, 5}"),
    ];
    for version in ["4", "5"] {
        for build in plain_builds(Language::Cpp) {
            let fixture = Fixture::cpp("types", TYPES)
                .argument("-fdebug-types-section")
                .argument(&format!("-gdwarf-{version}"))
                .argument("-fstandalone-debug");
            let fixture = match build.compiler {
                juror_testing::Compiler::Gpp => Fixture::cpp("types", TYPES)
                    .argument("-fdebug-types-section")
                    .argument(&format!("-gdwarf-{version}")),
                _ => fixture,
            };
            let executable = fixture.compile(&build);
            check_at_looks(&executable, &format!("{build}, DWARF {version}"), rows);
        }
    }
}

const TEMPLATES: &str = "
namespace in { struct Key { int k; }; enum Color { Red, Green }; }
template <class T> struct Box { T v; T get() const { return v; } static int made; };
template <class T> int Box<T>::made = 3;
template <class T, int N, bool B> struct Array { T v[N]; bool b = B; };
template <class T> T twice(T x) { return x + x; }
void look() {}
int main()
{
    Box<int> bi{3};
    Box<double> bd{2.5};
    Box<Box<in::Key *>> nested{};
    Array<const char *, 2, true> array{};
    look();
    return (int)(bi.get() + bd.get() + twice(4) + twice(2.5)) + array.b + bi.made == 0 || nested.v.v;
}";

#[test]
fn simple_names_of_templates_get_their_arguments() {
    let rows = &[
        (1, "whatis bi", "=Box<int>"),
        (1, "whatis bd", "=Box<double>"),
        (1, "whatis nested", "Box<Box<in::Key"),
        (1, "print sizeof(Box<int>)", "=4"),
        (1, "print sizeof(Box<double>)", "=8"),
        (1, "print ((Box<int> *)&bi)->v", "=3"),
        (1, "print bi.get()", "=3"),
        (1, "print twice<int>(5)", "=10"),
        (1, "print Box<int>::made", "=3"),
    ];
    for build in plain_builds(Language::Cpp) {
        let fixture = Fixture::cpp("templates", TEMPLATES);
        let simple = Fixture::cpp("templates", TEMPLATES).argument("-gsimple-template-names");
        check_at_looks(&fixture.compile(&build), &build.to_string(), rows);
        if build.compiler == juror_testing::Compiler::Clangpp {
            check_at_looks(&simple.compile(&build), &format!("{build}, simple"), rows);
        }
    }
}

const WIDE: &str = "
#[allow(dead_code)]
enum Wide { Full(u128), Half(u64), Nothing }
#[allow(dead_code)]
enum Signed { Full(i128), Other(u8) }
#[inline(never)] fn look() { std::hint::black_box(()); }
fn keep<T>(it: &T) { std::hint::black_box(it); }
fn main() {
    let some: Option<u128> = Some(5);
    let none: Option<u128> = None;
    let negative: Option<i128> = Some(-1);
    let wide = [Wide::Full(7), Wide::Half(8), Wide::Nothing];
    let result: Result<u128, u8> = Ok(9);
    let signed = [Signed::Full(-4), Signed::Other(3)];
    keep(&some); keep(&none); keep(&negative); keep(&wide); keep(&result); keep(&signed);
    look();
}";

#[test]
fn discriminants_of_sixteen_bytes_are_read() {
    let rows = &[
        (1, "print some", "=Some(5)"),
        (1, "print none", "=None"),
        (1, "print negative", "=Some(-1)"),
        (1, "print wide[0]", "Full(7)"),
        (1, "print wide[1]", "Half(8)"),
        (1, "print wide[2]", "Nothing"),
        (1, "print result", "=Ok(9)"),
        (1, "print signed[0]", "Full(-4)"),
        (1, "print signed[1]", "Other(3)"),
    ];
    for build in plain_builds(Language::Rust) {
        let executable = Fixture::rust("wide", WIDE).compile(&build);
        check_at_looks(&executable, &build.to_string(), rows);
    }
}

const LENGTHS: &str = "
#include <string.h>
void look(void) {}
int use(int n, int m, int (*p)[n], int (*q)[m][n])
{
    int a[n];
    int (*r)[n] = &a;
    for (int i = 0; i < n; i++)
        a[i] = i * 10;
    look();
    return (*p)[1] + q[0][1][2] + (*r)[2] + p[1][0];
}
int main(void)
{
    int x[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    int y[1][3][4];
    memset(y, 0, sizeof y);
    y[0][1][2] = 42;
    return use(4, 3, x, y) == 0;
}";

#[test]
fn arrays_of_variable_length_behind_pointers_have_their_rows() {
    let rows = &[
        (1, "print a", "={0, 10, 20, 30}"),
        (1, "print *p", "={1, 2, 3, 4}"),
        (1, "print p[1][0]", "=5"),
        (1, "print q[0][1][2]", "=42"),
        (1, "print (*r)[2]", "=20"),
        (1, "print sizeof(*p)", "=16"),
    ];
    for build in plain_builds(Language::C) {
        let executable = Fixture::c("lengths", LENGTHS).compile(&build);
        match build.compiler {
            juror_testing::Compiler::Gcc => check_at_looks(&executable, &build.to_string(), rows),
            // clang does not describe the lengths of parameters.
            _ => {
                let unknown = &[
                    (1, "print p[1][0]", "not known"),
                    (1, "print (*r)[2]", "=20"),
                ];
                check_at_looks(&executable, &build.to_string(), unknown);
            }
        }
    }
}

const KEYS: &str = "
#include <map>
#include <string>
struct Id { int n; bool operator<(const Id &other) const { return n < other.n; } };
int main()
{
    std::map<std::string, int> ages{{\"ann\", 7}};
    std::map<Id, int> others{{Id{3}, 8}};
    std::map<int, int> numbers{{3, 9}};
    return ages.size() + others.size() + numbers.size() == 3 ? 0 : 1;
}";

#[test]
fn a_key_that_cannot_be_compared_is_not_said_to_be_missing() {
    for build in plain_builds(Language::Cpp) {
        let executable = Fixture::cpp("keys", KEYS).compile(&build);
        let commands = [
            "break 10",
            "run",
            "print ages[\"ann\"]",
            "print ages[\"bob\"]",
            "print others[3]",
            "print numbers[\"ann\"]",
            "print numbers[3]",
            "print numbers[4]",
        ];
        let answers = dialog(&executable, &commands);
        let missing = "there is no \"bob\" in it: it has one element";
        assert_eq!([&*answers[2], &*answers[3]], ["7", missing], "{build}");
        for answer in &answers[4..6] {
            assert!(
                answer.contains("cannot be compared"),
                "{build}: {answers:?}"
            );
        }
        assert_eq!(answers[6], "9", "{build}: {answers:?}");
        assert!(
            answers[7].contains("there is no 4 in it"),
            "{build}: {answers:?}"
        );
    }
}

/// Strict DWARF 2 gives a unit of several sections no ranges, and clang no table of them.
#[test]
fn units_without_ranges_are_found_by_their_functions() {
    let source = "
int cold(int x) __attribute__((cold, noinline));
void look(void) {}
int cold(int x) { look(); return x * 3; }
static int helper(int x) { int y = x + 1; look(); return y; }
int main(void) { int r = helper(1); return cold(r) == 9; }";
    for build in plain_builds(Language::C) {
        let fixture = Fixture::c("strict", source)
            .argument("-gdwarf-2")
            .argument("-gstrict-dwarf")
            .argument("-ffunction-sections");
        let rows = &[
            (1, "print x", "=1"),
            (1, "info locals", "y = 2"),
            (1, "info frame", "helper"),
            (2, "print x", "=2"),
            (2, "list", "return x * 3"),
            (2, "ptype helper", "=int (int)"),
        ];
        check_at_looks(&fixture.compile(&build), &build.to_string(), rows);
    }
}

#[test]
fn types_in_units_of_their_own_keep_their_namespaces() {
    let source = "
#include <string>
#include <vector>
struct note {
  typedef std::string text_type;
  std::string text; std::vector<int> marks;
  std::string::size_type find(const std::string &what) const { return text.find(what); }
};
void look() { asm volatile(\"\"); }
int main() { note n; n.text = \"usr/share\"; n.marks = {4, 5, 6}; look(); return n.find(\"share\") == 0; }";
    for build in plain_builds(Language::Cpp) {
        let fixture = Fixture::cpp("type_units", source).argument("-fdebug-types-section");
        let executable = fixture.compile(&build);
        let rows = &[
            (1, "print n", "={text = \"usr/share\", marks = {4, 5, 6}}"),
            (1, "print n.text", "=\"usr/share\""),
            (1, "whatis n.text", "=std::string"),
            (1, "whatis n.marks", "std::vector<int"),
            (1, "print n.marks[2]", "=6"),
        ];
        check_at_looks(&executable, &build.to_string(), rows);
        let event = "event found = before note::find(n = len(this->marks))";
        let report = Batch::watching(&property_of(event)).run(&executable, &[]);
        assert_eq!(report.values("found", "n"), [3], "{build}");
    }
}
