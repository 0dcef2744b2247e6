//! A name means what the language says at its place: block, class and bases, namespaces and
//! `using`, then the module, then others.

use crate::support::dialog::{check_at_looks, dialog};
use crate::support::printed::plain_builds;
use crate::support::{Batch, program, property_of};
use juror_testing::{Compiler, Fixture, Language};

/// By the calls of `look` in the program.
const SCOPED: &[(usize, &str, &str)] = &[
    (1, "print v", "=30"),
    (1, "print ::v", "=31"),
    (1, "print N::v", "=30"),
    (1, "print v == 30", "=true"),
    (1, "print hidden", "=32"),
    (1, "print w", "=6"),
    (1, "print only_global", "=1"),
    (1, "print pick((char)97)", "=200"),
    (1, "print pick(1)", "=201"),
    (1, "print ::pick(1)", "=100"),
    (2, "print once", "=41"),
    (2, "print total", "=40"),
    (2, "print lib::total", "=40"),
    (2, "print twice(4)", "=8"),
    (2, "print al::deep", "=6"),
    (2, "print v", "=30"),
    (3, "print v", "=7"),
    (5, "print v", "=30"),
    (5, "print w", "=5"),
    (5, "print ::w", "=6"),
    (5, "print own", "=60"),
    (5, "print shared", "=51"),
    (5, "print ::shared", "=1"),
    (5, "print field", "=50"),
    (5, "print ::field", "=2"),
    (5, "print constant", "=9"),
    (5, "print ::constant", "=4"),
    (5, "print limit", "=4"),
    (5, "print ::inner", "=3"),
    (5, "print this->shared", "=51"),
    (5, "print helper()", "=61"),
    (6, "print own", "=60"),
    (6, "print w", "=5"),
    (6, "print v", "=30"),
    (6, "print k", "=1"),
    (7, "print v", "=31"),
    (7, "print w", "=6"),
    (7, "print field", "=2"),
    (7, "print both.y", "=3"),
    (7, "print both.x", "ambiguous"),
    (7, "print both.get()", "ambiguous"),
    (7, "print both.Left::x", "=1"),
    (7, "print both.Right::x", "=2"),
    (7, "print s.shared", "=51"),
    (7, "print s.constant", "=9"),
    (7, "print s.limit", "=4"),
    (7, "print N::S::limit", "=4"),
    (7, "print N::S::constant", "=9"),
    (7, "print Base::constant", "=9"),
    (7, "print Holder<int>::count", "=70"),
    (7, "print h.count", "=70"),
    (7, "print associated(p)", "=1003"),
    (7, "print hidden", "=32"),
];

#[test]
fn names_mean_what_the_scopes_of_their_place_have() {
    for build in plain_builds(Language::Cpp) {
        let executable = program("scoped_names.cpp").compile(&build);
        check_at_looks(&executable, &build.to_string(), SCOPED);
        match build.compiler {
            // clang does not describe `extern` in a block.
            Compiler::Gpp => check_at_looks(&executable, "extern", &[(4, "print v", "=30")]),
            // g++ does not describe constants of templates.
            _ => check_at_looks(&executable, "constants", &[(7, "print h.limit", "=8")]),
        }
    }
}

#[test]
fn conditions_and_events_mean_the_same_names() {
    const PROPERTY: &str = "
        event here = before N::here(a = v, b = ::v)
        event method = before N::S::method(a = w, b = own, c = shared, d = limit, e = ::w)";
    for build in plain_builds(Language::Cpp) {
        let executable = program("scoped_names.cpp").compile(&build);
        let report = Batch::watching(&property_of(PROPERTY)).run(&executable, &[]);
        for (event, name, expected) in [
            ("here", "a", 30),
            ("here", "b", 31),
            ("method", "a", 5),
            ("method", "b", 60),
            ("method", "c", 51),
            ("method", "d", 4),
            ("method", "e", 6),
        ] {
            assert_eq!(
                report.values(event, name),
                [expected],
                "{event}.{name}, {build}"
            );
        }
        for (condition, stops) in [
            ("break N::here if v == 30", true),
            ("break N::here if v == 31", false),
            (
                "break N::S::method if w == 5 && shared == 51 && limit == 4",
                true,
            ),
            ("break N::S::method if own != 60", false),
        ] {
            let answers = dialog(&executable, &[condition, "run", "kill"]);
            assert_eq!(
                answers[1].contains("Breakpoint"),
                stops,
                "{condition}, {build}: {answers:?}"
            );
        }
    }
}

/// A library with names that the program has not, and a program that uses it.
const LIBRARY: &str = "
#ifndef EXPORT
#define EXPORT
#endif
static int limit = 77; EXPORT int exported = 78; int version = 2; static int own_version = 3;
EXPORT int use(void) { return limit + exported + version + own_version; }";
const USER: &str = "
int use(void); extern int exported; int version = 1; static int own_version = 10;
void look(void) {}
int main(void) { look(); return use() + exported + version + own_version == 0; }";

fn with_library(options: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let directory = tempfile::TempDir::with_prefix("juror-names-").unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("shared.c"), LIBRARY).unwrap();
    std::fs::write(path("user.c"), USER).unwrap();
    let script = format!(
        "gcc -g -shared -fPIC {options} -Wl,-soname,libshared.so -o libshared.so shared.c \
         && gcc -g -o user user.c ./libshared.so -Wl,-rpath,$PWD"
    );
    let status = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(directory.path())
        .status();
    assert!(status.unwrap().success());
    let user = path("user");
    (directory, user)
}

#[test]
fn a_name_of_another_library_is_told_and_refused_in_conditions() {
    let (_directory, user) = with_library("");
    let answers = dialog(
        &user,
        &[
            "break look",
            "run",
            "print limit",
            "print libshared.so::limit",
            "print shared.c::limit",
            "print exported",
            "break look if limit == 77",
            "break look if exported == 78",
            "break look if libshared.so::limit == 77",
            "kill",
        ],
    );
    for (at, expected) in [
        (2, "77"),
        (3, "77"),
        (4, "77"),
        (5, "78"),
        (6, "libshared.so::limit"),
        (7, "breakpoint"),
        (8, "breakpoint"),
    ] {
        assert!(answers[at].contains(expected), "{at}: {answers:?}");
    }
    assert!(!answers[6].contains("breakpoint 2"), "{answers:?}");
}

#[test]
fn what_the_program_interposes_is_its_own() {
    for (options, version) in [
        ("", "1"),
        ("-Wl,-Bsymbolic", "2"),
        (
            "-fvisibility=hidden -DEXPORT='__attribute__((visibility(\"default\")))'",
            "2",
        ),
    ] {
        let (_directory, user) = with_library(options);
        let commands = [
            "break use",
            "run",
            "print version",
            "print own_version",
            "print shared.c::version",
            "up",
            "print version",
            "print own_version",
            "kill",
        ];
        let answers = dialog(&user, &commands);
        let found: Vec<&str> = [2, 3, 4, 6, 7].map(|at| answers[at].as_str()).to_vec();
        assert_eq!(found, [version, "3", version, "1", "10"], "{options}");
    }
}

#[test]
fn a_name_of_several_files_is_ambiguous() {
    let fixture = Fixture::files(
        "several",
        &[
            (
                "main.c",
                "void look(void); int main(void) { look(); return 0; }",
            ),
            (
                "a.c",
                "static int shared_name = 1; int a(void) { return ++shared_name; }",
            ),
            (
                "b.c",
                "static int shared_name = 2; int b(void) { return ++shared_name; }",
            ),
            ("look.c", "void look(void) {}"),
        ],
    );
    for build in plain_builds(Language::C) {
        let rows = &[
            (1, "print shared_name", "ambiguous"),
            (1, "print a.c::shared_name", "=1"),
            (1, "print b.c::shared_name", "=2"),
        ];
        check_at_looks(&fixture.compile(&build), &build.to_string(), rows);
    }
}

/// Paths of Rust: the module and the function around come first.
const RUST: &str = "
pub static COUNT: u32 = 1;
pub mod a {
    pub static COUNT: u32 = 2;
    pub fn f() -> u32 { static INNER: u32 = 5; super::look(); COUNT + INNER }
    pub mod b { pub static COUNT: u32 = 3; pub fn g() -> u32 { super::super::look(); COUNT } }
}
#[inline(never)] pub fn look() { std::hint::black_box(()); }
fn main() { let r = a::f() + a::b::g(); look(); std::process::exit((r + COUNT == 0) as i32) }
";

#[test]
fn paths_of_rust_begin_at_their_module() {
    for build in plain_builds(Language::Rust) {
        let rows = &[
            (1, "print COUNT", "=2"),
            (1, "print INNER", "=5"),
            (1, "print b::COUNT", "=3"),
            (2, "print COUNT", "=3"),
            (3, "print COUNT", "=1"),
            (3, "print a::COUNT", "=2"),
            (3, "print a::b::COUNT", "=3"),
        ];
        let executable = Fixture::rust("paths", RUST).compile(&build);
        check_at_looks(&executable, &build.to_string(), rows);
    }
}
