//! A search and the index of units find what the index of names finds: every name, in programs of
//! several compilers and formats.

use crate::support::{Program, compile, settings_with_cache};
use juror_symbols::SymbolFile;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// The number of names of a large program that are compared.
const NAMES_OF_LARGE_PROGRAM: usize = 16;

const PROGRAM: &str = r#"
#include <string>
#include <vector>
namespace shop {
struct item { int price; static int count; int twice() const; ~item(); };
int item::count = 1;
int item::twice() const { return 2 * price; }
item::~item() { count--; }
namespace { int hidden(int a) { static int calls; return a + ++calls; } }
int open(int a) { return hidden(a); }
}
enum class kind : int { RAW, COOKED };
enum plain { RAW = 7, f };
static inline __attribute__((always_inline)) int add(int a, int b) { return a + b; }
template <typename T> __attribute__((noinline)) T most(T a, T b) { return a < b ? b : a; }
template <typename T> struct box { T value; T get() { return value; } };
bool operator<(const shop::item &a, const shop::item &b) { return a.price < b.price; }
extern "C" int domain(int a) { return a; }
int g = 3;
int shared = 4;
int main(int argc, char **) {
    shop::item item = {argc};
    kind k = kind::COOKED;
    plain p = f;
    box<int> whole = {argc};
    box<double> part = {1.5};
    auto lambda = [&](int a) { return a + argc; };
    std::vector<std::string> words = {"a", "b"};
    return most(add(item.price, shared), (int)k) + (int)most(1.5, 2.5) + shop::item::count
        + whole.get() + (int)part.get() + lambda(2) + item.twice() + shop::open(domain(g))
        + (item < item) + (int)words.size() + p;
}
"#;

/// All that one name finds.
fn found(file: &SymbolFile, name: &str) -> String {
    let r#type = file.type_named(name).map(|it| (it.name(), it.size()));
    let enumerator = file.enumerator_named(name);
    format!(
        "{}\n{type:?}\n{:?}",
        code_of(file, name),
        enumerator.map(|(of, value)| (of.name(), value)),
    )
}

/// Compares the answers for every `step`th name; gives how many there are.
fn compare(path: &Path, step: usize) -> usize {
    let by_index = indexed(path);
    let names = names_of(&by_index, step);
    compare_names(path, &by_index, &names);
    names.len()
}

/// Opens a program and builds the index of its names.
fn indexed(path: &Path) -> SymbolFile {
    let by_index = SymbolFile::open(path).unwrap();
    assert!(by_index.prepare_names(&AtomicBool::new(false), &mut |_, _| {}));
    by_index
}

/// Every `step`th name of a program as a person writes it, and names that it may not have.
fn names_of(by_index: &SymbolFile, step: usize) -> Vec<String> {
    let mut names: Vec<String> = by_index.function_names().step_by(step).collect();
    names.extend(by_index.type_names().into_iter().step_by(step));
    names.extend(by_index.global_names().into_iter().step_by(step));
    let others = [
        "RAW",
        "COOKED",
        "kind::COOKED",
        "f",
        "no_such_name",
        "",
        "<",
        "item",
        "count",
        "item::count",
        "shop::item::count",
        "other::count",
        "shop::item::item",
        "item::~item",
        "shop::box::get",
        "box<long>::get",
        "box<char>::get",
        "shop::(anonymous namespace)::hidden",
        "shop::counted::total",
        "now::item::twice",
        "shop::hidden",
        "open",
        "most",
        "add",
        "twice",
        "domain",
        "main",
        "g",
    ];
    names.extend(others.map(str::to_owned));
    // A person says the end of a name.
    for at in (0..names.len()).step_by(3) {
        let end = names[at].rsplit("::").next().unwrap_or("").to_owned();
        names.push(end);
    }
    // Or more of it, and without the arguments of templates.
    for at in (0..names.len()).step_by(2) {
        let Some((before, end)) = names[at].rsplit_once("::") else {
            continue;
        };
        let scope = before.rsplit("::").next().unwrap_or("");
        let plain = scope.split('<').next().unwrap_or("");
        let scopes = [scope, plain, "nowhere"];
        let more = scopes.map(|scope| format!("{scope}::{end}"));
        names.extend(more);
    }
    names
}

/// The code and the variables that one name finds.
fn code_of(file: &SymbolFile, name: &str) -> String {
    let functions = file.functions_named(name).into_iter();
    // Of units that claim the same code, either may be meant.
    let functions = functions.map(|it| (it.name, it.linkage_name, it.ranges));
    let functions: Vec<_> = functions.collect();
    let globals = file.globals_named(name).into_iter().map(|it| it.name);
    let globals: Vec<_> = globals.collect();
    let copies = file.inlined_copies(name);
    format!("{functions:#?}\n{globals:?}\n{copies:#?}")
}

/// Compares what the kept index of units and the index of names find.
fn compare_units(path: &Path, by_index: &SymbolFile, names: &[String]) {
    let directory = TempDir::new().unwrap();
    let files_of = |extension: &str| {
        let entries = std::fs::read_dir(directory.path()).unwrap().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|it| it == extension));
        paths
    };
    // Operators need the index of names.
    let names: Vec<&String> = names.iter().filter(|it| !it.contains("operator")).collect();
    for names in names.chunks(16) {
        let by_units = SymbolFile::open_with(path, settings_with_cache(directory.path())).unwrap();
        for name in names {
            assert_eq!(
                code_of(&by_units, name),
                code_of(by_index, name),
                "{name} in {path:?}"
            );
        }
        assert_eq!(by_units.take_warnings(), Vec::<String>::new());
        assert_eq!(files_of("functions").len(), 1);
        // It would be asked instead.
        for path in files_of("names") {
            std::fs::remove_file(path).unwrap();
        }
    }
}

/// Compares what a search and the index find.
fn compare_names(path: &Path, by_index: &SymbolFile, names: &[String]) {
    compare_units(path, by_index, names);
    let files = [
        "program.cpp",
        "vector.h",
        "search.rs",
        "lib.rs",
        "no_such_file.c",
    ];
    for names in names.chunks(4) {
        // Who asks for many names gets an index.
        let by_search = SymbolFile::open(path).unwrap();
        for name in names {
            assert_eq!(
                found(&by_search, name),
                found(by_index, name),
                "{name} in {path:?}"
            );
        }
    }
    for file in files {
        let by_search = SymbolFile::open(path).unwrap();
        let line = by_search.addresses_of_line(file, 20);
        assert_eq!(
            line,
            by_index.addresses_of_line(file, 20),
            "{file} in {path:?}"
        );
    }
}

#[test]
fn every_name_of_a_program_is_found_without_an_index() {
    for compiler in ["g++", "clang++"] {
        for options in [
            ["-O1", "-gdwarf-5"],
            ["-O0", "-gdwarf-4"],
            ["-O2", "-flto"],
            ["-O0", "-fdebug-types-section"],
            ["-O0", "-gz"],
            ["-O1", "-gpubnames"],
        ] {
            let options = ["-g", options[0], options[1]];
            let Some(program) = compile(compiler, "program.cpp", PROGRAM, &options) else {
                continue;
            };
            println!("{}", program.how);
            let count = compare(&program.path, 5);
            assert!(count > 40, "{count}: {}", program.how);
        }
    }
}

/// What several units include: each declares it all, and has its own code of some of it. The
/// headers of the standard library take most of the time, so they are for one program of each
/// compiler, and the others have a text of their own in their place.
const HEADER: &str = r#"
#ifdef STANDARD
#include <string>
#include <vector>
namespace lib { using text = std::string; }
#else
namespace lib {
inline namespace __v1 {
template <typename C> struct traits {
    static unsigned long length(const C *it) { unsigned long count = 0; while (it[count]) count++; return count; }
};
template <typename C, typename T = traits<C>> class basic_text {
public:
    using value_type = C;
    basic_text(const C *it) : it(it), count(T::length(it)) {}
    unsigned long size() const { return count; }
    const C &at(unsigned long place) const { return it[place]; }
    friend bool operator==(const basic_text &a, const basic_text &b) { return a.it == b.it; }
private:
    const C *it;
    unsigned long count;
};
using text = basic_text<char>;
}
}
#endif
namespace shop {
struct item {
    int price;
    static int count;
    explicit item(int price);
    ~item();
    int twice() const;
    int named(const lib::text &name) const;
    int half() const { return price / 2; }
};
extern int stock;
int open(int a);
namespace { int hidden(int a) { static int calls; return a + ++calls; } int seen; }
template <typename T> struct box { T value; T get() const { return value; } static T last; };
template <typename T> T box<T>::last = T();
static inline __attribute__((always_inline)) int add(int a, int b) { int sum = a + b; return sum; }
inline int counted() { static int total; return ++total; }
}
struct other { static int count; int price; int twice() const { return 7; } int get() { return price; } };
inline namespace now { struct item { int twice() const { return 9; } }; }
"#;

const PARTS: [&str; 3] = [
    r#"#include "header.h"
namespace shop {
int item::count = 1;
item::item(int price) : price(price) { count++; }
item::~item() { count--; }
int item::twice() const { return add(price, price) + hidden(1) + seen; }
int item::named(const lib::text &name) const { return (int)name.size(); }
}
int first(int a) { shop::item item(a); shop::box<int> box = {a}; return box.get() + item.half() + shop::counted(); }
"#,
    r#"#include "header.h"
using shop::item;
namespace shop { int stock = 3; int open(int a) { return hidden(a) + add(a, 1) + counted() + seen; } }
int other::count = 2;
int second(int a) { shop::box<int> box = {a}; shop::box<long> wide = {a}; other it = {a}; return box.get() + (int)wide.get() + it.twice() + it.get() + shop::box<int>::last; }
"#,
    r#"#include "header.h"
int first(int a); int second(int a);
int main(int argc, char **) {
    shop::item item(argc);
    now::item own;
    return first(argc) + second(argc) + item.twice() + item.named("a") + shop::open(argc) + own.twice() + shop::add(argc, shop::stock) + other::count + item.half();
}
"#,
];

#[test]
fn names_of_headers_are_found_in_the_units_that_have_them() {
    let parts = TempDir::new().unwrap();
    let path = |name: &str| parts.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("header.h"), HEADER).unwrap();
    let include = format!("-I{}", parts.path().display());
    let others = [path("first.cpp"), path("second.cpp")];
    for (path, text) in others.iter().zip(PARTS) {
        std::fs::write(path, text).unwrap();
    }
    for compiler in ["g++", "clang++"] {
        for options in [
            ["-O1", "-DSTANDARD"],
            ["-O0", "-gdwarf-5"],
            ["-O0", "-gdwarf-4"],
            ["-O2", "-gdwarf-5"],
            ["-O1", "-gpubnames"],
            ["-O1", "-fdebug-types-section"],
            ["-O2", "-flto"],
        ] {
            let mut options = vec!["-g", options[0], options[1], &include];
            options.extend(others.iter().map(String::as_str));
            let Some(program) = compile(compiler, "program.cpp", PARTS[2], &options) else {
                continue;
            };
            println!("{}", program.how);
            let step = if options.contains(&"-DSTANDARD") {
                5
            } else {
                1
            };
            let count = compare(&program.path, step);
            assert!(count > 100, "{count}: {}", program.how);
            let twice = program.file.functions_named("shop::item::twice");
            // Whoever sees all units inlines all calls.
            let is_whole = options.contains(&"-flto");
            assert!(is_whole || twice.len() == 1, "{twice:?} {}", program.how);
        }
    }
}

const PLAIN: &str = r#"
struct pair { int one; };
static int ab(struct pair *pair) { return pair->one; }
static inline __attribute__((always_inline)) int added(int a) { return a + 1; }
int a_b(int x) { struct pair pair = {x}; return ab(&pair) + added(x); }
int main(void) { return a_b(1); }
"#;

/// Compares the functions with a word in their name to those of the whole list; gives
/// how many were found, and whether without an index.
fn compare_word(path: &Path, names: &[String], file: &SymbolFile, word: &str) -> (usize, bool) {
    let expected: Vec<&String> = names.iter().filter(|name| name.contains(word)).collect();
    let by_search = file.functions_with(&[word]);
    assert_eq!(
        by_search.is_some(),
        file.finds_functions_with(&[word]),
        "{word}"
    );
    let Some(found) = by_search else {
        return (expected.len(), false);
    };
    let found: Vec<&str> = found.iter().map(|function| &*function.name).collect();
    assert_eq!(found, expected, "{word} in {path:?}");
    (expected.len(), true)
}

fn names_of_functions(path: &Path) -> Vec<String> {
    let whole = SymbolFile::open(path).unwrap();
    let functions = whole.functions().filter(|it| !it.plt);
    functions.map(|it| it.name.to_string()).collect()
}

/// Each beginning, middle and end of a name, and words that none has.
#[test]
fn functions_with_a_word_are_found_without_an_index() {
    let (mut found, mut absent) = (0, 0);
    for (compiler, file, text) in [
        ("gcc", "plain.c", PLAIN),
        ("clang", "plain.c", PLAIN),
        ("g++", "program.cpp", PROGRAM),
        ("clang++", "program.cpp", PROGRAM),
    ] {
        for options in ["-gdwarf-5", "-gdwarf-4", "-gz", "-s", "-flto", "-O2"] {
            let Some(program) = compile(compiler, file, text, &["-O1", "-g", options]) else {
                continue;
            };
            let names = names_of_functions(&program.path);
            let mut words: Vec<String> = ["anonymous", "std", "no_such", "pairs", "<", "", "a b"]
                .map(str::to_owned)
                .to_vec();
            for name in &names {
                for start in (0..name.len()).filter(|at| name.is_char_boundary(*at)) {
                    words.push(name[start..].chars().take(4).collect());
                    words.push(name[start..].to_owned());
                }
                words.extend(
                    name.split(|it: char| !it.is_alphanumeric())
                        .map(str::to_owned),
                );
            }
            words.sort();
            words.dedup();
            for words in words.chunks(8) {
                // Who asks for many names gets an index.
                let file = SymbolFile::open(&program.path).unwrap();
                for word in words {
                    let (count, is_found) = compare_word(&program.path, &names, &file, word);
                    found += usize::from(is_found && count > 0);
                    absent += usize::from(is_found && count == 0);
                }
            }
        }
    }
    assert!(found > 100 && absent > 5, "{found}, {absent}");
}

/// The same in a program with many units, and in one that was stripped of them.
#[test]
fn functions_of_large_programs_are_found_by_a_word() {
    let own = std::env::current_exe().unwrap();
    let library = Path::new("/lib/x86_64-linux-gnu/libc.so.6");
    for path in [own.as_path(), library] {
        if !path.exists() {
            continue;
        }
        let names = names_of_functions(path);
        let mut words = vec!["no_such_word".to_owned(), "tick".to_owned()];
        for name in names.iter().step_by(names.len() / 40 + 1) {
            let mut parts = name.split(|it: char| !it.is_alphanumeric() && it != '_');
            words.extend(parts.next_back().map(str::to_owned));
            words.extend(parts.next().map(str::to_owned));
        }
        let mut count = 0;
        for words in words.chunks(8) {
            let file = SymbolFile::open(path).unwrap();
            for word in words {
                count += usize::from(compare_word(path, &names, &file, word).1);
            }
        }
        assert!(count > 4, "{count} in {path:?}");
    }
}

/// Words that a mangled name does not have as they are, since it has them in short.
#[test]
fn functions_are_found_by_words_that_mangled_names_lack() {
    let mut paths = vec![std::env::current_exe().unwrap()];
    let directory = Path::new("/usr/lib/x86_64-linux-gnu");
    paths.extend(["libstdc++.so.6", "libc++.so.1"].map(|name| directory.join(name)));
    for path in paths.into_iter().filter(|path| path.exists()) {
        let file = SymbolFile::open(&path).unwrap();
        let mut asked = HashSet::new();
        for function in file.functions().filter(|it| !it.plt).step_by(3) {
            for word in function
                .name
                .split(|it: char| !it.is_alphanumeric() && it != '_')
            {
                let linkage_name = function.linkage_name.as_ref();
                let is_in_both = linkage_name.is_none_or(|it| it.contains(word));
                if is_in_both || !asked.insert(word.to_owned()) || asked.len() > 20 {
                    continue;
                }
                let found = file.functions_with(&[word]);
                let has = |found: Vec<juror_symbols::Function>| {
                    found.iter().any(|it| it.low_pc == function.low_pc)
                };
                assert!(
                    found.is_none_or(has),
                    "{word} of {} in {path:?}",
                    function.name
                );
            }
        }
    }
}

/// A search of a large program takes a while, so the names are few, evenly spread, unless
/// `JUROR_NAMES` asks for more.
#[test]
fn names_of_a_large_program_are_found_without_an_index() {
    let path = std::env::current_exe().unwrap();
    let by_index = indexed(&path);
    let all = names_of(&by_index, 999);
    assert!(all.len() > 50, "{}", all.len());
    let asked = std::env::var("JUROR_NAMES").ok();
    let wanted: usize = asked.map_or(NAMES_OF_LARGE_PROGRAM, |it| it.parse().unwrap());
    let step = all.len().div_ceil(wanted).max(1);
    let names: Vec<String> = all.into_iter().step_by(step).collect();
    compare_names(&path, &by_index, &names);
}

#[test]
fn variables_of_calls_are_found_by_nobody_elsewhere() {
    let source = "
        static inline __attribute__((always_inline)) int add(int a) { int inside = a * a; return inside + 1; }
        int removed(int a) { int lost = a * 2; return lost + add(a); }
        int main(int argc, char **argv) { int own = add(argc); return own; }";
    let removing = ["-ffunction-sections", "-Wl,--gc-sections"];
    for compiler in ["gcc", "clang"] {
        for level in ["-O0", "-O2"] {
            let options = [&["-g", level][..], &removing].concat();
            let Some(program) = compile(compiler, "program.c", source, &options) else {
                continue;
            };
            for name in ["inside", "lost", "own", "a", "argc"] {
                let found = program.file.globals_named(name);
                assert!(found.is_empty(), "{name} in {}", program.how);
            }
            assert!(program.file.global_names().is_empty(), "{}", program.how);
        }
    }
}

const ENUMERATIONS: &str = r#"
namespace far { enum Color { RED = 20, BLUE }; enum { LIMIT = 7 }; }
namespace near { enum Color { RED = 30 }; enum { LIMIT = 8 }; }
enum class Kind : char { None, Some = 4 };
enum class Mode : char { None = 9 };
template <typename T> struct Box { enum State { OPEN = sizeof(T) }; enum { SIZE = sizeof(T) + 1 }; State state; };
struct Plain { enum { SIZE = 40 }; int x; };
int main() {
    Box<char> small = {Box<char>::OPEN};
    Box<int> large = {Box<int>::OPEN};
    Kind kind = Kind::Some; Mode mode = Mode::None;
    far::Color away = far::BLUE; near::Color here = near::RED;
    Plain plain = {Plain::SIZE};
    int sum = far::LIMIT + near::LIMIT + Box<char>::SIZE + Box<int>::SIZE;
    return sum + small.state + large.state + int(kind) + int(mode) + away + here + plain.x;
}
"#;

#[test]
fn enumerators_are_those_of_the_scope_that_is_written() {
    for compiler in ["g++", "clang++"] {
        let Some(program) = compile(compiler, "scopes.cpp", ENUMERATIONS, &["-g", "-O0"]) else {
            continue;
        };
        let by_units = SymbolFile::open(&program.path).unwrap();
        let by_index = SymbolFile::open(&program.path).unwrap();
        assert!(by_index.prepare_names(&AtomicBool::new(false), &mut |_, _| {}));
        for (name, value) in [
            ("far::RED", Some(20)),
            ("far::Color::RED", Some(20)),
            ("near::RED", Some(30)),
            ("near::Color::RED", Some(30)),
            ("::near::Color::RED", Some(30)),
            ("Kind::None", Some(0)),
            ("Mode::None", Some(9)),
            ("Box<char>::OPEN", Some(1)),
            ("Box<int>::OPEN", Some(4)),
            ("Box<int>::State::OPEN", Some(4)),
            ("far::LIMIT", Some(7)),
            ("near::LIMIT", Some(8)),
            ("Plain::SIZE", Some(40)),
            ("Box<int>::SIZE", Some(5)),
            ("Some", Some(4)),
            ("nowhere::RED", None),
            ("std::RED", None),
            ("Kind::RED", None),
            ("Mode::Some", None),
        ] {
            // clang does not tell of this enumeration.
            if (name, compiler) == ("Plain::SIZE", "clang++") {
                continue;
            }
            for (file, how) in [(&by_units, "units"), (&by_index, "index")] {
                let found = file.enumerator_named(name).map(|(_, value)| value);
                assert_eq!(found, value, "{name}, {compiler}, {how}");
            }
        }
    }
}

#[test]
fn files_that_are_searched_together_find_what_each_finds_alone() {
    let one =
        "int f(void) { return 1; }\nint g(void) { return f(); }\nint main(void) { return g(); }";
    let other = "static int f(int a) { return a; }\nint main(int a, char **v) { return f(a); }";
    let Some(one) = compile("gcc", "one.c", one, &["-g"]) else {
        return;
    };
    let Some(other) = compile("gcc", "other.c", other, &["-g"]) else {
        return;
    };
    let names = ["f", "g", "nowhere"];
    let open = |program: &Program| SymbolFile::open(&program.path).unwrap();
    let programs = [&one, &other, &one];
    let together = programs.map(open);
    SymbolFile::search_all(&together, &names);
    for (file, program) in together.iter().zip(programs) {
        let alone = open(program);
        for name in names {
            assert_eq!(found(file, name), found(&alone, name), "{name}");
        }
    }
}

#[test]
fn names_are_found_whether_or_not_the_symbols_have_been_read() {
    let source =
        "namespace lib { struct Box { int size() { return n; } ~Box() { n = 0; } int n = 1; }; }
        extern \"C\" int plain_name(int a) { return a; }
        int operator+(lib::Box a, int b) { return a.n + b; }
        int main(int a, char **) { lib::Box box; return plain_name(a) + box.size() + (box + 1); }";
    // Without debug information the symbols alone tell.
    let Some(program) = compile("g++", "box.cpp", source, &[]) else {
        return;
    };
    let names = [
        ("plain_name", 1),
        ("lib::Box::size", 1),
        ("size", 1),
        ("lib::Box::~Box", 1),
        ("operator+", 1),
        ("plain_nam", 0),
        ("Box::nowhere", 0),
    ];
    let read = SymbolFile::open(&program.path).unwrap();
    assert!(read.functions().count() > names.len());
    for (name, count) in names {
        let unread = SymbolFile::open(&program.path).unwrap();
        assert_eq!(unread.functions_named(name).len(), count, "{name}");
        assert_eq!(found(&unread, name), found(&read, name), "{name}");
    }
}
