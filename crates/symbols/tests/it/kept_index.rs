//! The indexes on disk: what is read back is what was made, whoever
//! writes at the same time, and what is damaged is made anew.

use crate::support::{Program, compile, settings_with_cache as settings};
use juror_symbols::{Cache, SymbolFile, SymbolSettings};
use juror_testing::is_installed;
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use tempfile::TempDir;

const PROGRAM: &str = r#"
namespace shop { struct item { int price; static int count; }; int item::count = 1; }
enum class kind : int { RAW, COOKED };
static inline __attribute__((always_inline)) int add(int a, int b) { return a + b; }
template <typename T> __attribute__((noinline)) T most(T a, T b) { return a < b ? b : a; }
int shared = 4;
int main(int argc, char **) {
    shop::item item = {argc};
    kind k = kind::COOKED;
    return most(add(item.price, shared), (int)k) + (int)most(1.5, 2.5) + shop::item::count;
}
"#;

fn program() -> Option<Program> {
    compile("g++", "program.cpp", PROGRAM, &["-O1", "-g"])
}

/// All that is found by name.
fn everything(file: &SymbolFile) -> String {
    let functions: Vec<_> = file.functions().collect();
    let named = ["most", "shop::item", "main", "add"].map(|name| file.functions_named(name));
    let globals = ["count", "item::count", "shared"].map(|name| file.globals_named(name).len());
    format!(
        "{functions:?}\n{named:?}\n{globals:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}",
        file.function_names().collect::<Vec<_>>(),
        file.type_names(),
        file.global_names(),
        file.source_files(),
        file.inlined_copies("add"),
        file.addresses_of_line("program.cpp", 10),
        file.enumerator_named("COOKED")
            .map(|(of, value)| (of.name(), value)),
    )
}

fn kept(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Removes the kept indexes of source files.
fn remove_source_files(directory: &Path) {
    for path in kept(directory) {
        if path.extension().is_some_and(|it| it == "files") {
            std::fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn what_was_kept_tells_the_same() {
    let Some(program) = program() else { return };
    let directory = TempDir::new().unwrap();
    let place = directory.path().join("new/and/deep");
    let expected = everything(&program.file);
    for round in 0..2 {
        let file = SymbolFile::open_with(&program.path, settings(&place)).unwrap();
        assert_eq!(everything(&file), expected, "round {round}");
        assert_eq!(file.take_warnings(), Vec::<String>::new());
        // The names and the source files.
        assert_eq!(kept(&place).len(), 2);
    }
}

/// A section that is kept decompressed is read instead of the compressed one, and made anew if it
/// is damaged or gone.
#[test]
fn sections_that_were_kept_tell_the_same() {
    let flags = ["-O1", "-g", "-gz=zlib"];
    let Some(program) = compile("g++", "program.cpp", PROGRAM, &flags) else {
        return;
    };
    let directory = TempDir::new().unwrap();
    let expected = everything(&program.file);
    let sections = || {
        let mut sections = kept(directory.path());
        sections.retain(|path| path.extension().is_some_and(|it| it == "section"));
        let bytes = |path: &PathBuf| std::fs::read(path).unwrap();
        sections.sort();
        sections.iter().map(bytes).collect::<Vec<_>>()
    };
    let mut made = Vec::new();
    let damages: [fn(&Path); 4] = [
        |_| {},
        |_| {},
        |path| {
            let mut bytes = std::fs::read(path).unwrap();
            let last = bytes.last_mut().unwrap();
            *last ^= 1;
            std::fs::write(path, bytes).unwrap();
        },
        |path| std::fs::write(path, "short").unwrap(),
    ];
    for damage in damages {
        let paths = kept(directory.path()).into_iter();
        paths
            .filter(|path| path.extension().is_some_and(|it| it == "section"))
            .for_each(|path| damage(&path));
        // With an index of source files, sections with addresses of units are not read.
        remove_source_files(directory.path());
        let file = SymbolFile::open_with(&program.path, settings(directory.path())).unwrap();
        assert_eq!(everything(&file), expected);
        assert_eq!(file.take_warnings(), Vec::<String>::new());
        if made.is_empty() {
            made = sections();
        }
        assert!(made.len() > 2, "{}", made.len());
        assert_eq!(sections(), made);
    }
}

#[test]
fn addresses_tell_the_same_with_and_without_the_index() {
    let Some(program) = program() else { return };
    let by_unit = SymbolFile::open(&program.path).unwrap();
    let by_name = SymbolFile::open(&program.path).unwrap();
    let functions: Vec<_> = by_name.functions().collect();
    let with_code = by_unit.header().segments.iter().find(|it| it.executable);
    let code = with_code.unwrap();
    let mut found = 0;
    for address in code.address..code.address + code.memory_size {
        let described = by_unit.function_at(address);
        assert_eq!(described, by_name.function_at(address), "{address:#x}");
        found += usize::from(described.is_some_and(|it| it.has_debug_info()));
    }
    assert!(found > 20 && functions.len() > 4, "{found}");
}

#[test]
fn two_who_write_at_once_do_no_harm() {
    let Some(program) = program() else { return };
    let directory = TempDir::new().unwrap();
    let expected = everything(&program.file);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let settings = settings(directory.path());
                    let file = SymbolFile::open_with(&program.path, settings).unwrap();
                    assert_eq!(everything(&file), expected);
                    assert_eq!(file.take_warnings(), Vec::<String>::new());
                    for path in kept(directory.path()) {
                        if path.extension().is_some_and(|it| it == "names") {
                            let _ = std::fs::remove_file(path);
                        }
                    }
                }
            });
        }
    });
    let left = kept(directory.path());
    let parts = left.iter();
    let parts = parts.filter(|it| it.extension().is_some_and(|it| it == "part"));
    assert_eq!(parts.count(), 0, "{left:?}");
}

#[test]
fn a_program_that_was_rewritten_is_read_anew() {
    let Some(program) = program() else { return };
    if !is_installed("objcopy") {
        return;
    }
    let directory = TempDir::new().unwrap();
    let file = SymbolFile::open_with(&program.path, settings(directory.path())).unwrap();
    assert!(!file.type_names().is_empty());
    // The same identity, and nothing is where it was.
    let output = std::process::Command::new("objcopy")
        .args(["--strip-debug"])
        .arg(&program.path)
        .output();
    assert!(output.unwrap().status.success());
    let file = SymbolFile::open_with(&program.path, settings(directory.path())).unwrap();
    assert!(file.type_names().is_empty());
}

#[test]
fn what_takes_too_much_room_is_removed_by_age() {
    let Some(program) = program() else { return };
    let directory = TempDir::new().unwrap();
    let old = directory.path().join("0101.names");
    let newer = directory.path().join("0202.names");
    let abandoned = directory.path().join("0303.1-0.part");
    let foreign = directory.path().join("notes.txt");
    let time =
        |hours: u64| std::time::SystemTime::now() - std::time::Duration::from_secs(3600 * hours);
    for (path, hours) in [(&old, 9), (&newer, 8), (&abandoned, 7), (&foreign, 99)] {
        std::fs::write(path, vec![0; 4 << 20]).unwrap();
        let file = std::fs::File::options().append(true).open(path).unwrap();
        file.set_modified(time(hours)).unwrap();
    }
    let settings = Arc::new(SymbolSettings {
        cache: Some(Cache {
            directory: directory.path().to_owned(),
            size_max_bytes: 6 << 20,
            size_min_bytes: 0,
        }),
        ..SymbolSettings::default()
    });
    let file = SymbolFile::open_with(&program.path, settings).unwrap();
    assert!(!file.type_names().is_empty());
    assert!(!old.exists() && !abandoned.exists());
    assert!(newer.exists() && foreign.exists());
    assert_eq!(kept(directory.path()).len(), 3);
}

#[test]
fn small_programs_are_not_kept() {
    let Some(program) = program() else { return };
    let directory = TempDir::new().unwrap();
    let settings = Arc::new(SymbolSettings {
        cache: Some(Cache::new(directory.path())),
        ..SymbolSettings::default()
    });
    let file = SymbolFile::open_with(&program.path, settings).unwrap();
    assert!(!file.type_names().is_empty());
    assert!(kept(directory.path()).is_empty());
}

#[test]
fn the_work_is_told_and_given_up() {
    // The test itself is large enough for several threads.
    let path = std::env::current_exe().unwrap();
    let file = SymbolFile::open(&path).unwrap();
    let cancel = AtomicBool::new(true);
    let mut told = Vec::new();
    let done = file.prepare_names(&cancel, &mut |done, of| told.push((done, of)));
    assert!(!done, "{told:?}");
    let cancel = AtomicBool::new(false);
    assert!(file.prepare_names(&cancel, &mut |done, of| told.push((done, of))));
    let (done, of) = *told.last().unwrap();
    assert_eq!(done, of);
    assert!(told.iter().all(|(done, of)| done <= of));
    assert!(!file.functions_named("kept_index::everything").is_empty());
    // What is there is not made again, whatever anybody wants.
    cancel.store(true, Ordering::Relaxed);
    assert!(file.prepare_names(&cancel, &mut |_, _| panic!("there is nothing to do")));
}

/// An index of source files that is kept answers without the debug information, and for a program
/// that was linked again it is made anew.
#[test]
fn source_files_are_those_of_the_program() {
    let Some(program) = program() else { return };
    let directory = TempDir::new().unwrap();
    let open = || SymbolFile::open_with(&program.path, settings(directory.path())).unwrap();
    let lines = |file: &SymbolFile| {
        let lines = 1..20;
        let found = lines.map(|line| file.addresses_of_line("program.cpp", line));
        found.collect::<Vec<_>>()
    };
    let expected = lines(&program.file);
    assert!(expected.iter().any(|found| !found.is_empty()));
    for _ in 0..2 {
        let file = open();
        assert_eq!(file.source_files(), program.file.source_files());
        assert!(file.addresses_of_line("no_such_file.c", 1).is_empty());
        assert_eq!(lines(&file), expected);
        assert_eq!(kept(directory.path()).len(), 1);
    }
    // Another program under the build id of this one.
    let other = PROGRAM.replace("int shared = 4;", "\n\n\nint shared = 4;");
    let other = compile("g++", "other.cpp", &other, &["-O1", "-g"]).unwrap();
    let id = |path: &Path| {
        let file = SymbolFile::open(path).unwrap();
        file.header().build_id.clone().unwrap()
    };
    let mut bytes = std::fs::read(&other.path).unwrap();
    let (own, wanted) = (id(&other.path), id(&program.path));
    let at = bytes.windows(own.len()).position(|it| it == own).unwrap();
    bytes[at..at + own.len()].copy_from_slice(&wanted);
    std::fs::write(&other.path, bytes).unwrap();
    let file = SymbolFile::open_with(&other.path, settings(directory.path())).unwrap();
    assert!(file.addresses_of_line("program.cpp", 10).is_empty());
    assert_eq!(file.addresses_of_line("other.cpp", 13).len(), 1);
}

/// The program, what is found in it, and the file that keeps an index, which `build` makes.
type Sound = (Program, String, Vec<u8>);

fn sound(build: fn(&SymbolFile), ask: fn(&SymbolFile) -> String) -> Option<Sound> {
    let program = program()?;
    let expected = ask(&program.file);
    let directory = TempDir::new().unwrap();
    build(&SymbolFile::open_with(&program.path, settings(directory.path())).unwrap());
    let bytes = std::fs::read(&kept(directory.path())[0]).unwrap();
    Some((program, expected, bytes))
}

/// Damages the file of an index and asks again: the answers are right, and the file is made anew.
fn check_damaged(
    (program, expected, sound): &Sound,
    build: fn(&SymbolFile),
    ask: fn(&SymbolFile) -> String,
    damage: Vec<(prop::sample::Index, u8)>,
    cut: Option<prop::sample::Index>,
) -> Result<(), TestCaseError> {
    let directory = TempDir::new().unwrap();
    let open = || SymbolFile::open_with(&program.path, settings(directory.path())).unwrap();
    build(&open());
    let path = kept(directory.path()).remove(0);
    let mut bytes = sound.clone();
    for (at, by) in damage {
        let at = at.index(bytes.len());
        bytes[at] = bytes[at].wrapping_add(by);
    }
    if let Some(cut) = cut {
        bytes.truncate(cut.index(bytes.len()));
    }
    std::fs::write(&path, &bytes).unwrap();
    let file = open();
    prop_assert_eq!(&ask(&file), expected);
    let remarks = file.take_warnings();
    prop_assert!(remarks.len() <= 1 && file.take_warnings().is_empty());
    if bytes != *sound {
        prop_assert_eq!(&std::fs::read(&path).unwrap(), sound);
    }
    Ok(())
}

fn names(file: &SymbolFile) {
    assert!(!file.type_names().is_empty());
}

fn source_files(file: &SymbolFile) {
    assert!(!file.source_files().is_empty());
}

fn functions(file: &SymbolFile) {
    assert_eq!(file.functions_named("most").len(), 2);
}

fn everything_about_functions(file: &SymbolFile) -> String {
    let named = ["most", "main", "add", "nowhere"].map(|name| file.functions_named(name));
    format!("{named:?}\n{:?}", file.inlined_copies("add"))
}

proptest! {
    #![proptest_config(juror_testing::with_cases(200))]

    #[test]
    fn damaged_indexes_of_functions_are_made_anew(
        damage in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..4),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let ask = everything_about_functions;
        static SOUND: LazyLock<Option<Sound>> =
            LazyLock::new(|| sound(functions, everything_about_functions));
        let Some(sound) = &*SOUND else { return Ok(()) };
        check_damaged(sound, functions, ask, damage, cut)?;
    }

    #[test]
    fn damaged_files_are_made_anew(
        damage in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..4),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        static SOUND: LazyLock<Option<Sound>> = LazyLock::new(|| sound(names, everything));
        let Some(sound) = &*SOUND else { return Ok(()) };
        check_damaged(sound, names, everything, damage, cut)?;
    }

    #[test]
    fn damaged_indexes_of_source_files_are_made_anew(
        damage in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..4),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        static SOUND: LazyLock<Option<Sound>> = LazyLock::new(|| sound(source_files, everything));
        let Some(sound) = &*SOUND else { return Ok(()) };
        check_damaged(sound, source_files, everything, damage, cut)?;
    }
}
