//! What is found by a search is what the index of names finds: every name, in
//! programs of several compilers and formats.

mod support;

use juror_symbols::SymbolFile;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use support::compile;

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
    let functions: Vec<_> = file
        .functions_named(name)
        .into_iter()
        .map(|it| (it.name, it.linkage_name, it.ranges))
        .collect();
    let globals: Vec<_> = file
        .globals_named(name)
        .into_iter()
        .map(|it| it.name)
        .collect();
    let r#type = file.type_named(name).map(|it| (it.name(), it.size()));
    let enumerator = file.enumerator_named(name);
    format!(
        "{functions:#?}\n{:#?}\n{globals:?}\n{type:?}\n{:?}",
        file.inlined_copies(name),
        enumerator.map(|(of, value)| (of.name(), value)),
    )
}

/// Compares the answers for every `step`th name; gives how many there are.
fn compare(path: &Path, step: usize) -> usize {
    let by_index = SymbolFile::open(path).unwrap();
    assert!(by_index.prepare_names(&AtomicBool::new(false), &mut |_, _| {}));
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
                found(&by_index, name),
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
    names.len()
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

const PLAIN: &str = r#"
struct pair { int one; };
static int ab(struct pair *pair) { return pair->one; }
static inline __attribute__((always_inline)) int added(int a) { return a + 1; }
int a_b(int x) { struct pair pair = {x}; return ab(&pair) + added(x); }
int main(void) { return a_b(1); }
"#;

/// Each beginning, middle and end of a name, and words that none has.
#[test]
fn that_no_function_has_a_word_is_told_only_where_none_has() {
    let mut told = 0;
    for (compiler, file, text) in [
        ("gcc", "plain.c", PLAIN),
        ("clang", "plain.c", PLAIN),
        ("g++", "program.cpp", PROGRAM),
    ] {
        for options in ["-gdwarf-5", "-gdwarf-4", "-gz", "-s"] {
            let Some(program) = compile(compiler, file, text, &["-O1", "-g", options]) else {
                continue;
            };
            let whole = SymbolFile::open(&program.path).unwrap();
            let functions = whole.functions().filter(|it| !it.plt);
            let names: Vec<String> = functions.map(|it| it.name.to_string()).collect();
            let mut words: Vec<String> = ["anonymous", "std", "no_such", "pairs", "<", "", "a b"]
                .map(str::to_owned)
                .to_vec();
            for name in &names {
                for start in (0..name.len()).filter(|at| name.is_char_boundary(*at)) {
                    words.push(name[start..].chars().take(4).collect());
                    words.push(name[start..].to_owned());
                }
            }
            let file = SymbolFile::open(&program.path).unwrap();
            for word in words {
                let is_absent = file.no_function_has(&word);
                let has = names.iter().any(|name| name.contains(&word));
                assert!(!(is_absent && has), "{word} in {}", program.how);
                told += usize::from(is_absent);
            }
        }
    }
    assert!(told > 5, "{told}");
}

#[test]
fn names_of_a_large_program_are_found_without_an_index() {
    let path = std::env::current_exe().unwrap();
    let count = compare(&path, 999);
    assert!(count > 50, "{count}");
}
