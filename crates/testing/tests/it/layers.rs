//! Checks the layers of the workspace.
//!
//! Each crate belongs to a layer and depends on crates of lower layers only; ARCHITECTURE.md
//! says what each crate is for. The table below is the rule, the manifests are checked
//! against it.

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, NodeDep, Package, PackageId};
use std::collections::BTreeSet;
use std::fs;

/// A crate of the workspace: its package, its layer, and whether it is pure.
struct Layered {
    package: &'static str,
    layer: u8,
    pure: bool,
}

const fn layered(package: &'static str, layer: u8, pure: bool) -> Layered {
    Layered {
        package,
        layer,
        pure,
    }
}

/// All crates but the side crates. A crate that is not listed here is an error.
const LAYERS: &[Layered] = &[
    layered("juror-fault", 0, true),
    layered("juror-arch", 0, true),
    layered("juror-agent", 1, false),
    layered("juror-event", 1, true),
    layered("juror-control", 3, true),
    layered("juror-corefile", 1, true),
    layered("juror-origin", 1, true),
    layered("juror-highlight", 1, true),
    layered("juror-language", 1, true),
    layered("juror-logic", 1, true),
    layered("juror-monitor", 2, true),
    layered("juror-view", 2, true),
    layered("juror-stepping", 2, true),
    layered("juror-schedule", 1, true),
    layered("juror-trace", 2, true),
    layered("juror-model", 2, true),
    layered("juror-stub", 3, true),
    layered("juror-oracle", 4, true),
    layered("juror-values", 3, true),
    layered("juror-debuggee", 3, false),
    layered("juror-symbols", 3, false),
    layered("juror-program", 4, false),
    layered("juror-instrument", 4, false),
    layered("juror-checkpoint", 4, false),
    layered("juror-points", 5, false),
    layered("juror-explore", 5, false),
    layered("juror-monitoring", 5, false),
    layered("juror-checking", 6, false),
    layered("juror-session", 6, false),
    layered("juror-text", 7, true),
    layered("juror-dap", 8, false),
    layered("juror-web", 8, false),
    layered("juror", 9, false),
];

/// Allowed edges between crates of one layer.
const SAME_LAYER: &[(&str, &str)] = &[
    ("juror-language", "juror-event"),
    ("juror-language", "juror-logic"),
    ("juror-logic", "juror-event"),
    ("juror-monitoring", "juror-points"),
    ("juror-explore", "juror-monitoring"),
    ("juror-explore", "juror-points"),
    ("juror-values", "juror-symbols"),
    ("juror-instrument", "juror-program"),
];

/// Edges that the layers allow and the design does not: the crates of the process and its
/// symbols know no properties, the breakpoint engine depends on the registers alone, and front
/// ends use the process through the session only.
const NEVER: &[(&str, &str)] = &[
    ("juror-debuggee", "juror-language"),
    ("juror-debuggee", "juror-monitor"),
    ("juror-symbols", "juror-stepping"),
    ("juror-symbols", "juror-monitor"),
    ("juror-stepping", "juror-language"),
    ("juror-stepping", "juror-event"),
    ("juror-stub", "juror-stepping"),
    ("juror-values", "juror-monitor"),
    ("juror-values", "juror-stepping"),
    ("juror-program", "juror-monitor"),
    ("juror-text", "juror-debuggee"),
    ("juror-text", "juror-instrument"),
    ("juror-text", "juror-program"),
    ("juror-text", "juror-session"),
    ("juror-text", "juror-symbols"),
    ("juror-text", "juror-values"),
    ("juror-web", "juror-debuggee"),
    ("juror-web", "juror-instrument"),
    ("juror-web", "juror-monitoring"),
    ("juror-web", "juror-program"),
    ("juror-web", "juror-session"),
    ("juror-web", "juror-symbols"),
    ("juror-web", "juror-values"),
    ("juror", "juror-debuggee"),
    ("juror-dap", "juror-debuggee"),
    ("juror", "juror-instrument"),
    ("juror-dap", "juror-instrument"),
    ("juror", "juror-program"),
    ("juror-dap", "juror-program"),
    ("juror", "juror-symbols"),
    ("juror-dap", "juror-symbols"),
    ("juror", "juror-values"),
    ("juror-dap", "juror-values"),
];

/// Crates that only tests may use, and only other crates' tests.
const FOR_TESTS_ONLY: &[&str] = &["juror-oracle"];

/// Packages that a crate must not link, directly or through others: what shows views has no
/// process (`nix` has `ptrace`), and no session has the model checker.
const NEVER_LINKED: &[(&str, &[&str])] = &[
    ("juror-view", &["juror-debuggee", "juror-symbols", "nix"]),
    ("juror-text", &["juror-debuggee", "juror-symbols", "nix"]),
    ("juror-web", &["juror-debuggee", "juror-symbols", "nix"]),
    ("juror-session", &["juror-model", "juror-oracle"]),
    ("juror-dap", &["juror-model", "juror-oracle"]),
];

/// Crates that depend on no other crate of the workspace.
const GROUND: &[&str] = &["juror-fault", "juror-control", "juror-schedule"];

/// Side crates, which have no layer, and the crates that each may depend on.
const SIDE_CRATES: &[(&str, &[&str])] = &[
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
    // Each parser has a target.
    (
        "juror-fuzzing",
        &[
            "juror-arch",
            "juror-corefile",
            "juror-event",
            "juror-fault",
            "juror-highlight",
            "juror-language",
            "juror-logic",
            "juror-model",
            "juror-monitor",
            "juror-monitoring",
            "juror-points",
            "juror-session",
            "juror-stepping",
            "juror-symbols",
            "juror-trace",
            "juror-values",
            "juror-view",
        ],
    ),
];

/// The one crate that every other may use in its tests.
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

fn find(package: &str) -> Option<&'static Layered> {
    LAYERS.iter().find(|it| it.package == package)
}

/// Returns what is wrong with an edge.
fn judge(edge: Edge<'_>) -> Result<(), String> {
    let Edge { from, to, kind } = edge;
    if SYSTEM_CRATES.contains(&to) && kind == DependencyKind::Normal {
        return match find(from) {
            Some(known) if known.pure => Err(format!("{from} is pure and must not use {to}")),
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
    if FOR_TESTS_ONLY.contains(&to) && kind != DependencyKind::Development {
        return Err(format!("{from} uses {to} outside of its tests"));
    }
    if let Some((_, allowed)) = SIDE_CRATES.iter().find(|(name, _)| *name == from) {
        return if allowed.contains(&to) {
            Ok(())
        } else {
            Err(format!("{from} is a side crate and must not use {to}"))
        };
    }
    let (Some(above), Some(below)) = (find(from), find(to)) else {
        return Err(format!(
            "{from} uses {to}, and one of them has no layer: list it in LAYERS"
        ));
    };
    if NEVER.contains(&(from, to)) {
        return Err(format!("{from} must never use {to}"));
    }
    let allowed =
        above.layer > below.layer || above.layer == below.layer && SAME_LAYER.contains(&(from, to));
    if allowed {
        Ok(())
    } else {
        Err(format!(
            "{from} (layer {}) must not use {to} (layer {})",
            above.layer, below.layer
        ))
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

/// Returns the names of all packages that a crate of the workspace links, with default features.
fn linked(metadata: &Metadata, package: &str) -> BTreeSet<String> {
    let nodes = &metadata.resolve.as_ref().unwrap().nodes;
    let named = |id: &PackageId| metadata[id].name.to_string();
    let mut waiting: Vec<&PackageId> = nodes
        .iter()
        .map(|node| &node.id)
        .filter(|id| named(id) == package)
        .collect();
    assert_eq!(waiting.len(), 1, "{package} is no crate of the workspace");
    let mut found = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        let node = nodes.iter().find(|node| node.id == *id).unwrap();
        let is_linked = |dependency: &&NodeDep| {
            let kinds = &dependency.dep_kinds;
            kinds.iter().any(|it| it.kind == DependencyKind::Normal)
        };
        for dependency in node.deps.iter().filter(is_linked) {
            if found.insert(named(&dependency.pkg)) {
                waiting.push(&dependency.pkg);
            }
        }
    }
    found
}

#[test]
fn no_crate_links_what_it_must_not() {
    let metadata = MetadataCommand::new()
        .manifest_path(juror_testing::repository_directory().join("Cargo.toml"))
        .other_options(
            ["--offline", "--filter-platform", "x86_64-unknown-linux-gnu"].map(String::from),
        )
        .exec()
        .unwrap();
    for (package, never) in NEVER_LINKED {
        let linked = linked(&metadata, package);
        for other in *never {
            assert!(!linked.contains(*other), "{package} links {other}");
        }
    }
    for package in GROUND {
        let linked = linked(&metadata, package);
        let others: Vec<_> = linked.iter().filter(|it| it.starts_with("juror")).collect();
        assert!(others.is_empty(), "{package} links {others:?}");
    }
    // The session has the process, through two crates.
    let session = linked(&metadata, "juror-session");
    assert!(session.contains("nix") && session.contains("juror-corefile"));
    assert!(linked(&metadata, "juror-control").is_empty());
}

#[test]
fn no_crate_depends_upwards() {
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
fn every_crate_has_a_layer() {
    for package in workspace() {
        let name = package.name.as_str();
        let is_side = SIDE_CRATES.iter().any(|(side, _)| *side == name);
        assert!(
            is_side || find(name).is_some(),
            "{name} has no layer: list it in LAYERS"
        );
    }
}

#[test]
fn every_listed_crate_exists() {
    let packages = workspace();
    for known in LAYERS {
        let exists = packages.iter().any(|it| it.name.as_str() == known.package);
        assert!(
            exists,
            "{} is listed in LAYERS and is no crate",
            known.package
        );
    }
}

#[test]
fn pure_crates_forbid_unsafe_code() {
    for package in workspace() {
        if !find(&package.name).is_some_and(|known| known.pure) {
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
    check("juror-testing", "juror-monitor", Normal, None);
    check("juror-values", "juror-symbols", Normal, None);
    check("juror-instrument", "juror-program", Normal, None);
    check("juror-instrument", "juror-stub", Normal, None);
    check("juror-symbols", "juror-language", Normal, None);
    check(
        "juror-event",
        "juror-language",
        Normal,
        Some("juror-event (layer 1) must not use juror-language (layer 1)"),
    );
    check(
        "juror-language",
        "juror-session",
        Development,
        Some("juror-language (layer 1) must not use juror-session (layer 6)"),
    );
    check(
        "juror-monitor",
        "libc",
        Normal,
        Some("juror-monitor is pure and must not use libc"),
    );
    check(
        "juror-program",
        "juror-instrument",
        Normal,
        Some("juror-program (layer 4) must not use juror-instrument (layer 4)"),
    );
    check(
        "juror-values",
        "juror-debuggee",
        Normal,
        Some("juror-values (layer 3) must not use juror-debuggee (layer 3)"),
    );
    check(
        "juror-debuggee",
        "juror-monitor",
        Normal,
        Some("juror-debuggee must never use juror-monitor"),
    );
    check(
        "juror",
        "juror-debuggee",
        Normal,
        Some("juror must never use juror-debuggee"),
    );
    check(
        "juror-session",
        "juror-testing",
        Normal,
        Some("juror-session uses juror-testing outside of its tests"),
    );
    check("juror-session", "juror-oracle", Development, None);
    check(
        "juror-session",
        "juror-oracle",
        Normal,
        Some("juror-session uses juror-oracle outside of its tests"),
    );
    check(
        "juror-testing",
        "juror-session",
        Normal,
        Some("juror-testing is a side crate and must not use juror-session"),
    );
    check(
        "juror-session",
        "juror-attic",
        Normal,
        Some("juror-session uses juror-attic, and one of them has no layer: list it in LAYERS"),
    );
}
