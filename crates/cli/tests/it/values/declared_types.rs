//! Types that the program only declares: the strings of libstdc++, which clang leaves to the
//! library's debug information until C++17, and others.

use crate::support::dialog::{check_at_looks, dialog};
use crate::support::printed::plain_builds;
use crate::support::{Batch, juror, property_of};
use juror_testing::{Build, Compiler, Fixture, Language};

const STRINGS: &str = "
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>
struct Item { int before; std::string name; std::wstring wide; int after; };
struct Wrong : std::runtime_error { int code; Wrong() : std::runtime_error(\"wrong\"), code(7) {} };
void look() {}
int measured(std::string text, const std::string &key) { return (int)text.size() + (int)key.size(); }
std::string changed = \"one\";
int main()
{
    std::string brief = \"brief\", empty, full = \"fifteen letters\", heap = \"sixteen letters!\";
    const std::string constant = \"constant\";
    std::wstring wide = L\"wid\", wider = L\"wider than the buffer\";
    std::map<std::string, int> ages{{\"ann\", 31}, {\"a key that is not in the buffer\", 3}};
    std::unordered_map<std::string, std::string> words{{\"key\", \"value\"}};
    std::set<std::string> sorted{\"x\", \"y\"};
    std::vector<std::string> list{\"one\", \"two\", \"a third one, which is not in the buffer\"};
    std::pair<std::string, int> pair{\"first\", 2};
    std::shared_ptr<std::string> shared = std::make_shared<std::string>(\"shared\");
    std::string array[2] = {\"p\", \"q\"}, *pointer = &heap, &reference = full;
    Item item{1, \"item\", L\"w\", 9};
    std::ostringstream stream;
    Wrong wrong;
    alignas(8) unsigned char raw[sizeof(std::string)] = {1, 2, 3};
    std::string *never = reinterpret_cast<std::string *>(raw);
    look();
    changed = \"another\";
    int sum = measured(heap, brief) + measured(brief, full);
    look();
    return sum == 41 ? 0 : (int)(ages.size() + words.size() + sorted.size() + list.size() + pair.second
        + shared->size() + array[0].size() + pointer->size() + reference.size() + item.name.size()
        + constant.size() + wide.size() + wider.size() + empty.size() + stream.str().size()
        + wrong.code + never->size());
}";

/// Each compiler by each standard, and the strings of before C++11.
fn variants() -> impl Iterator<Item = (Build, String, Fixture)> {
    let builds = plain_builds(Language::Cpp).into_iter();
    builds.flat_map(|build| {
        ["-std=gnu++14", "-std=gnu++17", "-D_GLIBCXX_USE_CXX11_ABI=0"].map(|argument| {
            let how = format!("{build}, {argument}");
            (
                build,
                how,
                Fixture::cpp("strings", STRINGS).argument(argument),
            )
        })
    })
}

#[test]
fn strings_that_are_only_declared_have_their_texts() {
    let heap = "sixteen letters!";
    let rows = &[
        (1, "print brief", "=\"brief\""),
        (1, "print empty", "=\"\""),
        (1, "print full", "=\"fifteen letters\""),
        (1, "print heap", "=\"sixteen letters!\""),
        (1, "print constant", "=\"constant\""),
        (1, "print wide", "=\"wid\""),
        (1, "print wider", "=\"wider than the buffer\""),
        (1, "print ages[\"ann\"]", "=31"),
        (1, "print ages[\"a key that is not in the buffer\"]", "=3"),
        (1, "print ages[\"bob\"]", "there is no \"bob\" in it"),
        (1, "print words", "={\"key\": \"value\"}"),
        (1, "print words[\"key\"]", "=\"value\""),
        (1, "print sorted", "={\"x\", \"y\"}"),
        (
            1,
            "print list[2]",
            "=\"a third one, which is not in the buffer\"",
        ),
        (1, "print pair", "=(\"first\", 2)"),
        (1, "print *shared", "=\"shared\""),
        (1, "print array", "={\"p\", \"q\"}"),
        (1, "print array[1]", "=\"q\""),
        (1, "print *pointer", "=\"sixteen letters!\""),
        (1, "print reference", "\"fifteen letters\""),
        (
            1,
            "print item",
            "={before = 1, name = \"item\", wide = \"w\", after = 9}",
        ),
        (1, "print item.name == \"item\"", "=true"),
        (1, "print item.after", "=9"),
        (1, "print heap[15]", "=33 '!'"),
        (1, "print len(heap)", "=16"),
        (1, "print len(empty)", "=0"),
        (1, "print len(ages)", "=2"),
        (1, "print changed", "=\"one\""),
        (2, "print changed", "=\"another\""),
    ];
    assert_eq!(heap.len(), 16);
    for (build, how, fixture) in variants() {
        check_at_looks(&fixture.compile(&build), &how, rows);
    }
}

#[test]
fn events_read_strings_that_are_only_declared() {
    for (build, how, fixture) in variants() {
        let executable = fixture.compile(&build);
        let event =
            "event seen = before measured(t = text, g = changed, n = len(text), c = key[0])";
        let report = Batch::watching(&property_of(event)).run(&executable, &[]);
        assert_eq!(
            report.values("seen", "t"),
            ["sixteen letters!", "brief"],
            "{how}"
        );
        assert_eq!(report.values("seen", "g"), ["another", "another"], "{how}");
        assert_eq!(report.values("seen", "n"), [16, 5], "{how}");
        assert_eq!(report.values("seen", "c"), [98, 102], "{how}");
        let condition = "break measured if key == \"fifteen letters\"";
        let answers = dialog(&executable, &[condition, "run", "print text", "kill"]);
        assert_eq!(answers[2], "\"brief\"", "{how}: {answers:?}");
    }
}

/// The clang builds, where the library's types are declared only.
fn declared() -> impl Iterator<Item = (Build, std::path::PathBuf)> {
    let builds = plain_builds(Language::Cpp).into_iter();
    let builds = builds.filter(|build| build.compiler == Compiler::Clangpp);
    builds.map(|build| {
        let fixture = Fixture::cpp("strings", STRINGS).argument("-std=gnu++14");
        let executable = fixture.compile(&build);
        (build, executable)
    })
}

#[test]
fn memory_that_is_no_string_is_not_shown_as_one() {
    for (build, executable) in declared() {
        let rows = &[
            (
                1,
                "print *never",
                "=<not known: this is no string of the library's layout>",
            ),
            (1, "print *never == \"a\"", "not"),
            (1, "print *(std::string *)&item.before", "not known"),
            (1, "print *(std::string *)(char *)0", "not known"),
            (1, "print sizeof(std::string)", "=32"),
            (1, "print heap._M_string_length", "=16"),
            (
                1,
                "ptype heap",
                "only declared; the members are those of libstdc++'s ABI",
            ),
        ];
        check_at_looks(&executable, &build.to_string(), rows);
    }
}

#[test]
fn an_incomplete_type_says_where_it_is_declared() {
    for (build, executable) in declared() {
        let rows = &[
            (1, "print stream", "incomplete type, declared in strings"),
            (1, "print wrong", "code = 7}"),
            (
                1,
                "ptype stream",
                "which is defined elsewhere; it is declared in strings",
            ),
        ];
        check_at_looks(&executable, &build.to_string(), rows);
    }
}

#[test]
fn types_without_a_name_show_their_members() {
    let source = "struct item {
    int kind;
    union { int number; struct { char *text; unsigned length; } string; } value;
    enum { EMPTY, FULL = 4 } states[2];
    struct { int line; } *place;
    union { long low; double high; };
} item;
struct { int x; } point;
int main(void) { return item.kind + point.x; }
";
    let fixture = Fixture::files("nameless", &[("nameless.c", source)]);
    let output = juror(&["run", "--batch", "--color=never"])
        .args(["-e", "ptype struct item", "-e", "ptype point"])
        .args([fixture.compile_plain()])
        .run();
    let expected = "\
struct item {
    int kind;
    union {
        int number;
        struct {
            char *text;
            unsigned int length;
        } string;
    } value;
    enum {EMPTY, FULL = 4} states[2];
    struct {
        int line;
    } *place;
    union {
        long int low;
        double high;
    };
}";
    assert!(output.stdout.contains(expected), "{}", output.stdout);
    let point = "struct {\n    int x;\n}";
    assert!(output.stdout.contains(point), "{}", output.stdout);
}
