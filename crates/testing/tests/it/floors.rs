//! Holds the floors of the house apart.
//!
//! Each crate stands on a floor and depends on the crates of lower floors
//! only; ARCHITECTURE.md tells what lives where. The table below is the rule,
//! the manifests are the evidence.

use cargo_metadata::{DependencyKind, MetadataCommand, Package};
use std::fs;

/// A crate of the workspace: its package, its floor, and whether it is pure.
struct Room {
    package: &'static str,
    floor: u8,
    pure: bool,
}

const fn room(package: &'static str, floor: u8, pure: bool) -> Room {
    Room {
        package,
        floor,
        pure,
    }
}

/// All rooms. A crate that is not listed here is an error.
const ROOMS: &[Room] = &[
    room("juror-event", 1, true),
    room("juror-language", 1, true),
    room("juror-logic", 1, true),
    room("juror-monitor", 2, true),
    room("juror-stepping", 2, true),
    room("juror-trace", 2, true),
    room("juror-model", 2, true),
    room("juror-rules", 3, true),
    room("juror-debuggee", 3, false),
    room("juror-symbols", 3, false),
    room("juror-instrument", 4, false),
    room("juror-checkpoint", 4, false),
    room("juror-view", 5, false),
    room("juror-points", 5, false),
    room("juror-monitoring", 5, false),
    room("juror-session", 6, false),
    room("juror", 7, false),
];

/// Edges between rooms of one floor.
const SAME_FLOOR: &[(&str, &str)] = &[
    ("juror-language", "juror-event"),
    ("juror-language", "juror-logic"),
    ("juror-logic", "juror-event"),
    ("juror-points", "juror-view"),
    ("juror-monitoring", "juror-points"),
    ("juror-monitoring", "juror-view"),
];

/// Edges that the floors would allow and the house does not: who traces knows
/// no properties, and the breakpoint engine knows nothing but itself.
const NEVER: &[(&str, &str)] = &[
    ("juror-debuggee", "juror-language"),
    ("juror-debuggee", "juror-monitor"),
    ("juror-symbols", "juror-stepping"),
    ("juror-symbols", "juror-monitor"),
    ("juror-stepping", "juror-language"),
    ("juror-stepping", "juror-event"),
];

/// Beside the house: what they may depend on, whatever the floors say.
const SIDE_ROOMS: &[(&str, &[&str])] = &[
    (
        "juror-testing",
        &[
            "juror-checkpoint",
            "juror-event",
            "juror-language",
            "juror-logic",
            "juror-model",
            "juror-monitor",
            "juror-stepping",
            "juror-trace",
            "juror-debuggee",
        ],
    ),
    (
        "juror-witness",
        &["juror-event", "juror-language", "juror-monitor"],
    ),
];

/// The one room that every other may use in its tests.
const TEST_HELPER: &str = "juror-testing";

/// Crates that talk to the operating system.
const SYSTEM_CRATES: &[&str] = &["nix", "libc", "rustix"];

/// A dependency as a manifest declares it.
#[derive(Clone, Copy)]
struct Edge<'a> {
    from: &'a str,
    to: &'a str,
    kind: DependencyKind,
}

fn find(package: &str) -> Option<&'static Room> {
    ROOMS.iter().find(|room| room.package == package)
}

/// What is wrong with an edge, or nothing.
fn judge(edge: Edge<'_>) -> Result<(), String> {
    let Edge { from, to, kind } = edge;
    if SYSTEM_CRATES.contains(&to) && kind == DependencyKind::Normal {
        return match find(from) {
            Some(room) if room.pure => Err(format!("{from} is pure and must not use {to}")),
            _ => Ok(()),
        };
    }
    if !to.starts_with("juror") {
        return Ok(());
    }
    if to == TEST_HELPER {
        return match kind {
            DependencyKind::Development => Ok(()),
            _ => Err(format!("{from} uses {to} outside of its tests")),
        };
    }
    if let Some((_, allowed)) = SIDE_ROOMS.iter().find(|(name, _)| *name == from) {
        return match allowed.contains(&to) {
            true => Ok(()),
            false => Err(format!(
                "{from} stands beside the house and must not use {to}"
            )),
        };
    }
    let (Some(above), Some(below)) = (find(from), find(to)) else {
        return Err(format!(
            "{from} uses {to}, and one of them has no floor: list it in ROOMS"
        ));
    };
    if NEVER.contains(&(from, to)) {
        return Err(format!("{from} must never use {to}"));
    }
    let allowed =
        above.floor > below.floor || above.floor == below.floor && SAME_FLOOR.contains(&(from, to));
    match allowed {
        true => Ok(()),
        false => Err(format!(
            "{from} (floor {}) must not use {to} (floor {})",
            above.floor, below.floor
        )),
    }
}

fn workspace() -> Vec<Package> {
    MetadataCommand::new()
        .manifest_path(juror_testing::repository_directory().join("Cargo.toml"))
        .no_deps()
        .exec()
        .unwrap()
        .packages
}

#[test]
fn no_room_depends_upwards() {
    let packages = workspace();
    let faults: Vec<String> = packages
        .iter()
        .flat_map(|package| {
            package.dependencies.iter().map(|dependency| Edge {
                from: &package.name,
                to: &dependency.name,
                kind: dependency.kind,
            })
        })
        .filter_map(|edge| judge(edge).err())
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_room_has_a_floor() {
    for package in workspace() {
        let name = package.name.as_str();
        let beside = SIDE_ROOMS.iter().any(|(side, _)| *side == name);
        assert!(
            beside || find(name).is_some(),
            "{name} has no floor: list it in ROOMS"
        );
    }
}

#[test]
fn pure_rooms_forbid_unsafe_code() {
    for package in workspace() {
        if !find(&package.name).is_some_and(|room| room.pure) {
            continue;
        }
        let path = package.manifest_path.with_file_name("src").join("lib.rs");
        let source = fs::read_to_string(&path).unwrap();
        assert!(
            source
                .lines()
                .any(|line| line.trim() == "#![forbid(unsafe_code)]"),
            "{path} has no `#![forbid(unsafe_code)]`, and {} is pure",
            package.name
        );
    }
}

#[test]
fn wrong_edges_are_named() {
    use DependencyKind::{Development, Normal};
    let check = |from, to, kind, expected: Option<&str>| {
        let judged = judge(Edge { from, to, kind }).err();
        assert_eq!(judged.as_deref(), expected, "{from} → {to}");
    };
    check("juror-monitor", "juror-language", Normal, None);
    check("juror-language", "juror-event", Normal, None);
    check("juror-session", "juror-event", Normal, None);
    check("juror-debuggee", "nix", Normal, None);
    check("juror-stepping", "libc", Development, None);
    check("juror-stepping", "juror-testing", Development, None);
    check("juror-witness", "juror-monitor", Normal, None);
    check("juror-symbols", "juror-language", Normal, None);
    check(
        "juror-event",
        "juror-language",
        Normal,
        Some("juror-event (floor 1) must not use juror-language (floor 1)"),
    );
    check(
        "juror-language",
        "juror-session",
        Development,
        Some("juror-language (floor 1) must not use juror-session (floor 5)"),
    );
    check(
        "juror-monitor",
        "libc",
        Normal,
        Some("juror-monitor is pure and must not use libc"),
    );
    check(
        "juror-debuggee",
        "juror-monitor",
        Normal,
        Some("juror-debuggee must never use juror-monitor"),
    );
    check(
        "juror-session",
        "juror-testing",
        Normal,
        Some("juror-session uses juror-testing outside of its tests"),
    );
    check(
        "juror-witness",
        "juror-session",
        Normal,
        Some("juror-witness stands beside the house and must not use juror-session"),
    );
    check(
        "juror-session",
        "juror-attic",
        Normal,
        Some("juror-session uses juror-attic, and one of them has no floor: list it in ROOMS"),
    );
}
