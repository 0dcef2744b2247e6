//! Libraries that come and go while the program runs.

use crate::support::{compile, file_address, run_with};
use juror_debuggee::{Debuggee, Owner, StopEvent};
use juror_testing::compile_c;

#[test]
fn a_library_can_be_watched_from_its_first_instruction() {
    let program = compile(
        r#"
        #include <dlfcn.h>
        #include <stdio.h>
        int main(int argc, char **argv) {
            for (int round = 0; round < 3; round++) {
                void *library = dlopen(argv[1], RTLD_NOW);
                if (!library) return 1;
                void (*work)(void) = dlsym(library, "work");
                for (int i = 0; i < 10; i++) work();
                dlclose(library);
            }
            puts("done");
            return 0;
        }"#,
        &[],
    );
    let library = program.directory.path().join("library.so");
    // The constructor calls `work` too: that is before `dlopen` returns.
    compile_c(
        &library,
        r#"
        volatile int count;
        __attribute__((noinline)) void work(void) { count++; }
        __attribute__((constructor)) static void begin(void) { work(); }"#,
        &["-O1", "-shared", "-fPIC"],
    );
    let offset = file_address(&library, "work");
    let mut launch = program.launch();
    launch.arguments = vec![library.clone().into()];
    let mut debuggee = Debuggee::launch(&launch).unwrap();
    let mut point = None;
    let mut loads = 0;
    let run = run_with(&mut debuggee, |debuggee, event| {
        if let StopEvent::ModulesChanged { .. } = event {
            let found = debuggee
                .modules()
                .iter()
                .find(|module| module.path == library)
                .map(|module| module.bias + offset);
            match (point, found) {
                (None, Some(address)) => {
                    debuggee.insert(address, Owner::Monitor).unwrap();
                    loads += 1;
                }
                (Some(address), None) => debuggee.remove(address, Owner::Monitor).unwrap(),
                _ => {}
            }
            point = found;
        }
    });
    run.assert_exited(0);
    assert_eq!(loads, 3);
    assert_eq!(run.hits, 33);
    assert_eq!(program.output(), "done\n");
}

#[test]
fn constructors_of_startup_libraries_are_not_missed() {
    let program = compile("int main(void) { return 0; }", &[]);
    let library = program.directory.path().join("libearly.so");
    compile_c(
        &library,
        r#"
        volatile int count;
        __attribute__((noinline)) void work(void) { count++; }
        __attribute__((constructor)) static void begin(void) { work(); }"#,
        &["-O1", "-shared", "-fPIC"],
    );
    let offset = file_address(&library, "work");
    let mut launch = program.launch();
    launch.environment = vec![juror_debuggee::EnvironmentChange::Set(
        "LD_PRELOAD".into(),
        library.clone().into(),
    )];
    let mut debuggee = Debuggee::launch(&launch).unwrap();
    let mut inserted = false;
    let run = run_with(&mut debuggee, |debuggee, _| {
        let found = debuggee
            .modules()
            .iter()
            .find(|module| module.path == library)
            .map(|module| module.bias + offset);
        if let (false, Some(address)) = (inserted, found) {
            debuggee.insert(address, Owner::Monitor).unwrap();
            inserted = true;
        }
    });
    run.assert_exited(0);
    assert_eq!(run.hits, 1);
}

#[test]
fn static_programs_have_one_module() {
    let program = compile("int main(void) { return 3; }", &["-static"]);
    let mut debuggee = program.start();
    let files = debuggee.modules().iter().filter(|it| !it.in_memory);
    assert_eq!(files.count(), 1);
    crate::support::run(&mut debuggee).assert_exited(3);
}

#[test]
fn static_programs_are_found_where_they_were_moved() {
    let source = r#"
        volatile int count;
        __attribute__((noinline)) void work(void) { count++; }
        int main(void) { for (int i = 0; i < 5; i++) work(); return count; }"#;
    for flags in [&["-static-pie", "-fPIE"], &["-static", "-no-pie"]] {
        let program = compile(source, flags);
        let mut debuggee = crate::support::start_with_points(&program, &["work"]);
        let run = crate::support::run(&mut debuggee);
        run.assert_exited(5);
        assert_eq!(run.hits, 5, "{flags:?}");
    }
}
