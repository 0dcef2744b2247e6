//! Functions by name and by address, against what the compilers made and
//! what `nm` says.

use crate::support::{compile, compile_everywhere};
use juror_symbols::{Binding, FileKind, SymbolFile};
use juror_testing::is_installed;
use std::collections::BTreeSet;
use std::process::Command;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
struct item { int weight; };
static int weigh(struct item *item) { return item->weight * 2; }
__attribute__((noinline)) int total(struct item *items, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += weigh(&items[i]);
    return sum;
}
__attribute__((noinline)) static int hidden(int x) { printf("%d\n", x); return x + 1; }
int main(int argc, char **argv) {
    struct item items[2] = {{argc}, {2}};
    void *memory = malloc(argc);
    free(memory);
    return hidden(total(items, 2));
}
"#;

#[test]
fn functions_are_found_in_every_build() {
    for level in ["-O0", "-O2"] {
        for program in compile_everywhere(PROGRAM, level) {
            let how = &program.how;
            let total = program.function("total");
            assert_eq!(total.binding, Binding::Global, "{how}");
            assert!(
                total.has_debug_info() && !total.plt && !total.indirect,
                "{how}"
            );
            assert_eq!(
                program.file.function_at(total.low_pc),
                Some(total.clone()),
                "{how}"
            );
            assert_eq!(
                program
                    .file
                    .function_at(total.high_pc() - 1)
                    .map(|f| f.low_pc),
                Some(total.low_pc)
            );
            let (name, offset) = program.file.symbol_at(total.low_pc + 1).unwrap();
            assert_eq!((&*name, offset), ("total", 1), "{how}");
            assert_eq!(program.function("hidden").binding, Binding::Local, "{how}");
            assert!(program.file.functions_named("tot").is_empty());
            assert!(program.file.functions_named("").is_empty());
            assert!(
                program.file.function_names().any(|name| name == "weigh"),
                "{how}"
            );
            assert!(program.file.has_debug_info());
            let expected = if how.contains("-no-pie") {
                FileKind::DynamicExecutable
            } else {
                FileKind::DynamicPie
            };
            assert_eq!(program.file.header().kind, expected, "{how}");
            assert_eq!(program.file.header().needed, ["libc.so.6"]);
        }
    }
}

#[test]
fn inlined_copies_are_found_by_name() {
    for program in compile_everywhere(PROGRAM, "-O2") {
        let how = &program.how;
        assert!(program.file.functions_named("weigh").is_empty(), "{how}");
        let copies = program.file.inlined_copies("weigh");
        assert!(!copies.is_empty(), "{how}");
        let total = program.function("total");
        for copy in copies {
            assert_eq!((&*copy.name, &*copy.caller), ("weigh", "total"), "{how}");
            assert!(total.contains(copy.entry), "{how}");
            assert_eq!(
                copy.call_line,
                Some(crate::support::line_of(PROGRAM, "sum += weigh")),
                "{how}"
            );
            assert!(copy.call_file.unwrap().ends_with("program.c"), "{how}");
            let frames = program.file.inlined_frames(copy.entry);
            assert_eq!(
                frames.first().map(|frame| &*frame.name),
                Some("weigh"),
                "{how}"
            );
        }
    }
}

#[test]
fn stubs_of_imported_functions_have_names() {
    for program in compile_everywhere(PROGRAM, "-O0") {
        let stub = program.function("malloc@plt");
        assert!(stub.plt, "{}", program.how);
        assert!(
            program.file.functions_named("malloc").is_empty(),
            "{}",
            program.how
        );
        let (name, offset) = program.file.symbol_at(stub.low_pc + 6).unwrap();
        assert_eq!((&*name, offset), ("malloc@plt", 6), "{}", program.how);
    }
}

#[test]
fn copies_made_by_gcc_are_told_apart() {
    let source = r#"
#include <stdlib.h>
volatile int sink;
__attribute__((noinline)) static int clone_me(int flag, int x) {
    if (flag) { for (int i = 0; i < x; i++) sink += i; return x * 3; }
    return x;
}
__attribute__((noinline)) int cold_me(int x) {
    if (__builtin_expect(x == 12345, 0)) { sink = 1; abort(); }
    return x + sink;
}
int main(int argc, char **argv) { return clone_me(1, argc) + clone_me(1, argc + 3) + cold_me(argc); }
"#;
    let Some(program) = compile("gcc", "program.c", source, &["-O2", "-g"]) else {
        return;
    };
    let clone = program.function("clone_me");
    let raw = clone.linkage_name.as_deref().unwrap();
    assert!(raw == "clone_me" || raw.starts_with("clone_me."), "{raw}");
    let cold = program.function("cold_me");
    assert!(!cold.fragment);
    if cold.ranges.len() > 1 {
        let moved = cold.ranges[1].start;
        assert_eq!(program.file.function_at(moved).unwrap().low_pc, cold.low_pc);
        assert_eq!(&*program.file.symbol_at(moved).unwrap().0, "cold_me.cold");
    }
    // Without debug information the moved part is only a fragment.
    let stripped = program.directory.path().join("stripped");
    let strip = Command::new("strip")
        .arg("-g")
        .arg("-o")
        .arg(&stripped)
        .arg(&program.path)
        .status();
    if strip.is_ok_and(|status| status.success()) {
        let file = SymbolFile::open(&stripped).unwrap();
        assert!(!file.header().has_debug_info);
        let found = file.functions_named("cold_me");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(file.functions_named("clone_me").len(), 1);
        if cold.ranges.len() > 1 {
            assert!(file.function_at(cold.ranges[1].start).unwrap().fragment);
        }
    }
}

#[test]
fn names_of_cpp_match_by_their_last_components() {
    let source = r#"
namespace ns {
template <class T> struct Box { T value; T get(int extra) const; };
template <class T> T Box<T>::get(int extra) const { return value + extra; }
struct Queue {
    int count = 0;
    Queue(int n);
    ~Queue();
    int push(int value);
    bool operator<(const Queue &other) const;
};
Queue::Queue(int n) : count(n) {}
Queue::~Queue() { count = -1; }
int Queue::push(int value) { auto twice = [value](int x) { return x * value; }; return count += twice(2); }
bool Queue::operator<(const Queue &other) const { return count < other.count; }
namespace { int helper(int x) { return x + 1; } }
int use(int x) { return helper(x); }
}
int push(int x) { return x; }
int main(int argc, char **) {
    ns::Queue queue(argc), other(2);
    ns::Box<int> box{1};
    ns::Box<char> wide{1};
    return queue.push(1) + push(2) + box.get(1) + wide.get(2) + ns::use(3) + (queue < other);
}
"#;
    for (compiler, format) in [
        ("g++", "-gdwarf-5"),
        ("g++", "-gdwarf-4"),
        ("clang++", "-gdwarf-5"),
        ("g++", "-g0"),
    ] {
        let Some(program) = compile(compiler, "program.cc", source, &["-O0", format]) else {
            continue;
        };
        for (query, expected) in [
            ("push", vec!["ns::Queue::push", "push"]),
            ("Queue::push", vec!["ns::Queue::push"]),
            ("ns::Queue::push", vec!["ns::Queue::push"]),
            ("_ZN2ns5Queue4pushEi", vec!["ns::Queue::push"]),
            ("Queue::operator<", vec!["ns::Queue::operator<"]),
            (
                "ns::Box::get",
                vec!["ns::Box<int>::get", "ns::Box<char>::get"],
            ),
            ("Box<int>::get", vec!["ns::Box<int>::get"]),
            ("ns::helper", vec!["ns::(anonymous namespace)::helper"]),
            ("Wrong::push", vec![]),
            ("~Queue", vec!["ns::Queue::~Queue"]),
        ] {
            let found: BTreeSet<String> = program
                .file
                .functions_named(query)
                .iter()
                .map(|f| f.name.to_string())
                .collect();
            let expected: BTreeSet<String> = expected.into_iter().map(String::from).collect();
            assert_eq!(found, expected, "{query} in {}", program.how);
        }
        assert!(
            !program.file.functions_named("Queue::Queue").is_empty(),
            "{}",
            program.how
        );
    }
}

#[test]
fn names_of_rust_match_by_their_last_components() {
    let source = r#"
pub mod shop {
    pub struct Till { pub total: u64 }
    impl Till {
        #[inline(never)]
        pub fn add(&mut self, amount: u64) -> u64 { self.total += amount; self.total }
    }
    pub trait Price { fn price(&self) -> u64; }
    impl Price for Till { #[inline(never)] fn price(&self) -> u64 { self.total } }
}
use shop::Price;
fn main() {
    let mut till = shop::Till { total: std::env::args().count() as u64 };
    till.add(3);
    std::process::exit(till.price() as i32);
}
"#;
    for options in [
        &["-g"][..],
        &["-g", "-Copt-level=2"],
        &["-g", "-Csymbol-mangling-version=v0"],
    ] {
        let Some(program) = compile("rustc", "program.rs", source, options) else {
            return;
        };
        for query in ["shop::Till::add", "Till::add", "program::shop::Till::add"] {
            let found = program.function(query);
            assert!(
                found.name.ends_with("Till::add") || found.name.ends_with("Till>::add"),
                "{}",
                found.name
            );
        }
        assert_eq!(
            program.file.functions_named("Till::price").len(),
            1,
            "{}",
            program.how
        );
        assert_eq!(
            program.file.functions_named("program::main").len(),
            1,
            "{}",
            program.how
        );
    }
}

#[test]
fn the_functions_are_those_that_nm_lists() {
    if !is_installed("nm") {
        return;
    }
    for program in compile_everywhere(PROGRAM, "-O2") {
        let output = Command::new("nm").arg(&program.path).output().unwrap();
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [address, "t" | "T", name] = words.as_slice() else {
                continue;
            };
            let address = u64::from_str_radix(address, 16).unwrap();
            let found = program.file.functions_named(name);
            let global_or_typed = found.iter().any(|function| function.low_pc == address);
            // Marks of the start files have no type and are no functions.
            if !matches!(*name, "deregister_tm_clones" | "register_tm_clones") {
                assert!(
                    global_or_typed || name.starts_with('_'),
                    "{name} {address:#x} in {}: {found:?}",
                    program.how
                );
            }
        }
    }
}

#[test]
fn the_c_library_is_known_by_its_exported_names() {
    let Some(path) = ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6"]
        .iter()
        .find(|path| std::path::Path::new(path).exists())
    else {
        println!("skipped: no C library found");
        return;
    };
    let file = SymbolFile::open(path).unwrap();
    assert_eq!(file.header().kind, FileKind::SharedLibrary);
    assert_eq!(file.header().soname.as_deref(), Some("libc.so.6"));
    for name in ["malloc", "free", "fopen", "fclose"] {
        let found = file.functions_named(name);
        assert!(
            found
                .iter()
                .any(|f| f.binding == Binding::Exported && &*f.name == name),
            "{name}: {found:?}"
        );
    }
    let memcpy = file.functions_named("memcpy");
    assert!(
        memcpy.iter().any(|function| function.indirect),
        "{memcpy:?}"
    );
    assert!(
        memcpy.iter().all(|function| &*function.name == "memcpy"),
        "{memcpy:?}"
    );
}
