//! The world of a program: what it writes is seen by nobody else, and goes with the world.

use crate::support::compile;
use juror_debuggee::{Debuggee, Launch, StopEvent, World};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Writes what it finds in a file, then another text; ends with 1 if a file of before is there.
const WRITES: &str = r#"
    #include <fcntl.h>
    #include <unistd.h>
    #include <sys/msg.h>
    int main(int argc, char **argv) {
        int file = open(argv[1], O_RDWR | O_CREAT | O_EXCL, 0600);
        if (argc > 2) msgget(4711, IPC_CREAT | 0600);
        return file < 0;
    }"#;

fn end_of(launch: &Launch) -> i32 {
    let mut debuggee = Debuggee::launch(launch).unwrap();
    debuggee.resume_all().unwrap();
    loop {
        match debuggee.wait().unwrap() {
            StopEvent::Exited { status } => return status,
            other => {
                if let Some(thread) = other.waiting_thread() {
                    debuggee.resume(thread).unwrap();
                }
            }
        }
    }
}

#[test]
fn what_is_written_goes_with_the_world() {
    let program = compile(WRITES, &[]);
    let directory = program.directory.path().to_owned();
    // If there can be no world, the test says so.
    let Ok(world) = World::new(std::slice::from_ref(&directory)) else {
        return;
    };
    let world = Arc::new(world);
    let file = directory.join("made");
    let launch = |arguments: &[&Path], world: &Arc<World>| Launch {
        arguments: arguments.iter().map(Into::into).collect(),
        world: Some(Arc::clone(world)),
        ..program.launch()
    };
    let other = Path::new("/proc/self/nothing");
    assert_eq!(end_of(&launch(&[other], &world)), 1);
    assert!(world.is_untouched());
    assert_eq!(end_of(&launch(&[&file], &world)), 0);
    assert!(!world.is_untouched());
    assert!(!file.exists());
    // It is there in its world, and in no other.
    assert_eq!(end_of(&launch(&[&file], &world)), 1);
    let world = Arc::new(World::new(std::slice::from_ref(&directory)).unwrap());
    assert_eq!(end_of(&launch(&[&file], &world)), 0);
    let names: Vec<_> = fs::read_dir(&directory).unwrap().flatten().collect();
    assert!(names.iter().all(|entry| entry.file_name() != "made"));
}

#[test]
fn message_queues_go_with_the_world() {
    let program = compile(WRITES, &[]);
    let Ok(world) = World::new(&[]) else {
        return;
    };
    let world = Arc::new(world);
    let launch = Launch {
        arguments: vec!["/proc/self/nothing".into(), "queue".into()],
        world: Some(Arc::clone(&world)),
        ..program.launch()
    };
    assert_eq!(end_of(&launch), 1);
    assert!(!world.is_untouched());
    let queues = fs::read_to_string("/proc/sysvipc/msg").unwrap();
    assert!(!queues.contains(" 4711 "), "{queues}");
}
