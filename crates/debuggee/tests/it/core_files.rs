//! Core files that are written of a process with points, and read again.

use std::fs;

use crate::support::{Program, compile};
use juror_debuggee::{
    Debuggee, DebuggeeError, OpenCore, Origin, Owner, StopEvent, ThreadId, WriteCoreError,
};

const SOURCE: &str = r#"
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    char *large, *excluded;
    int answer = 42;
    __attribute__((noinline)) int step(int n) { return n + answer; }
    int main(int argc, char **argv) {
        /* One page in the middle of many is touched. */
        large = mmap(0, 256 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        strcpy(large + (100 << 20), "in the middle");
        excluded = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        strcpy(excluded, "secret");
        madvise(excluded, 4096, MADV_DONTDUMP);
        return step(argc);
    }"#;

/// Runs to `step`.
fn at_step() -> (Program, Debuggee, ThreadId) {
    let program = compile(SOURCE, &["-O1"]);
    let mut debuggee = program.start();
    let address = program.address(&debuggee, "step");
    debuggee.insert(address, Owner::Developer).unwrap();
    debuggee.resume_all().unwrap();
    loop {
        match debuggee.wait().unwrap() {
            StopEvent::Hit { thread, .. } => {
                debuggee.halt_all().unwrap();
                return (program, debuggee, thread);
            }
            StopEvent::Exited { status } => panic!("it exited with {status}"),
            other => {
                if let Some(thread) = other.waiting_thread() {
                    debuggee.resume(thread).unwrap();
                }
            }
        }
    }
}

fn open(program: &Program, core: &std::path::Path) -> Debuggee {
    let open = OpenCore {
        core: core.to_owned(),
        program: Some(program.path.clone()),
    };
    let (debuggee, _) = Debuggee::open_core(&open).unwrap();
    debuggee
}

fn text(debuggee: &Debuggee, at: u64) -> String {
    let bytes = debuggee.read_text(at, 100).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_core_is_the_process_without_juror() {
    let (program, mut live, thread) = at_step();
    let path = program.directory.path().join("core");
    let written = live.write_core(&path, thread, &|| false).unwrap();
    assert_eq!((written.thread_count, &written.path), (1, &path));
    assert!(written.left_out.is_empty());
    let mut core = open(&program, &path);
    assert_eq!(core.origin(), Origin::CoreFile);
    assert_eq!(core.pid(), live.pid());
    assert_eq!(
        core.registers(thread).unwrap(),
        live.registers(thread).unwrap()
    );
    assert_eq!(
        core.vector_registers(thread).unwrap(),
        live.vector_registers(thread).unwrap()
    );
    assert_eq!(
        core.upper_halves(thread).unwrap(),
        live.upper_halves(thread).unwrap()
    );
    assert_eq!(core.modules(), live.modules());
    assert_eq!(core.auxiliary_vector(), live.auxiliary_vector());
    let step = program.address(&core, "step");
    let file_offset = |bytes: &mut [u8]| core.read(step, bytes).unwrap();
    let mut bytes = [0; 4];
    file_offset(&mut bytes);
    let mut own = [0; 4];
    live.read(step, &mut own).unwrap();
    assert_eq!(bytes, own);
    assert_ne!(bytes[0], 0xcc);
    // The trap is in the process nevertheless.
    assert_eq!(live.points().len(), 1);
    let large = core.read_u64(program.address(&core, "large")).unwrap();
    assert_eq!(text(&core, large + (100 << 20)), "in the middle");
    assert_eq!(core.read_u64(large + (200 << 20)).unwrap(), 0);
    let excluded = core.read_u64(program.address(&core, "excluded")).unwrap();
    assert_eq!(text(&live, excluded), "secret");
    assert!(matches!(
        core.read_u64(excluded),
        Err(DebuggeeError::NotStored { .. })
    ));
    assert!(matches!(
        core.read_u64(16),
        Err(DebuggeeError::Memory { .. })
    ));
    // No mapping of juror's: every range of the core file is the program's.
    let maps = live.memory_map().unwrap();
    let is_mapped =
        |name: &str, maps: &str| juror_debuggee::mappings(maps).any(|it| it.name == name);
    let own_maps = core.memory_map().unwrap();
    for name in ["[stack]", "[vdso]"] {
        assert!(
            is_mapped(name, &maps) && is_mapped(name, &own_maps),
            "{own_maps}"
        );
    }
    let executable = |maps: &str| {
        let found = juror_debuggee::mappings(maps);
        found
            .filter(|it| it.is_executable() && it.name.is_empty())
            .count()
    };
    assert!(executable(&maps) > 0);
    assert_eq!(executable(&own_maps), 0, "{own_maps}");
    // Most of the large mapping takes no room.
    let metadata = fs::metadata(&path).unwrap();
    use std::os::unix::fs::MetadataExt;
    assert!(metadata.len() > 256 << 20);
    assert!(metadata.blocks() * 512 < 16 << 20, "{metadata:?}");
    refuses_changes(&mut core, thread);
    drop(core);
    // The process of the core file is not touched by any of that.
    live.resume_all().unwrap();
    loop {
        match live.wait().unwrap() {
            StopEvent::Exited { status } => break assert_eq!(status, 43),
            other => {
                if let Some(thread) = other.waiting_thread() {
                    live.resume(thread).unwrap();
                }
            }
        }
    }
}

/// Checks that nothing of a core file can be changed.
fn refuses_changes(core: &mut Debuggee, thread: ThreadId) {
    let is_refused = |result: Result<(), DebuggeeError>| {
        assert!(
            matches!(result, Err(DebuggeeError::NeedsProcess)),
            "{result:?}"
        );
    };
    let registers = *core.registers(thread).unwrap();
    let vectors = core.vector_registers(thread).unwrap();
    is_refused(core.write(registers.stack_pointer(), &[1]));
    is_refused(core.set_registers(thread, &registers));
    is_refused(core.set_vector_registers(thread, &vectors));
    is_refused(core.insert(registers.instruction_pointer(), Owner::Developer));
    is_refused(core.inject_signal(thread, 9));
    let written = core.write_core("core".as_ref(), thread, &|| false);
    assert!(matches!(
        written,
        Err(WriteCoreError::Debuggee(DebuggeeError::NeedsProcess))
    ));
    core.halt_all().unwrap();
    assert!(matches!(core.wait(), Err(DebuggeeError::NothingRuns)));
    assert_eq!(core.registers(thread).unwrap(), &registers);
}

#[test]
fn an_interruption_leaves_no_file() {
    let (program, live, thread) = at_step();
    let directory = program.directory.path().join("cores");
    fs::create_dir(&directory).unwrap();
    let path = directory.join("core");
    let asked = std::cell::Cell::new(0);
    let after_five = || {
        asked.set(asked.get() + 1);
        asked.get() > 5
    };
    let result = live.write_core(&path, thread, &after_five);
    assert!(
        matches!(result, Err(WriteCoreError::Interrupted)),
        "{result:?}"
    );
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
    // A file that was there stays as it was.
    fs::write(&path, "before").unwrap();
    let result = live.write_core(&path, thread, &|| true);
    assert!(
        matches!(result, Err(WriteCoreError::Interrupted)),
        "{result:?}"
    );
    assert_eq!(fs::read(&path).unwrap(), b"before");
    live.write_core(&path, thread, &|| false).unwrap();
    open(&program, &path);
}
