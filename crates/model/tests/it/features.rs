//! The models that come with juror use every feature of the language that a model
//! can have here, so each of them is compared with Spin (`models.rs`).
//!
//! What is left: `#include`, since Spin is given one file; never claims and labels
//! `accept`, which have questions of their own; and code in C, which is refused.

use crate::support::models;
use std::fs;

/// Features, each with words of which one must stand in some model.
const FEATURES: &[(&str, &[&str])] = &[
    (
        "processes that are there from the beginning",
        &["active proctype"],
    ),
    ("several of a kind", &["active ["]),
    ("processes that are run", &["run "]),
    ("the number of a process that is run", &["= run "]),
    ("a process that is run in a value", &["+ run "]),
    ("init", &["init {"]),
    ("priorities", &[" priority "]),
    ("set_priority", &["set_priority("]),
    ("get_priority", &["get_priority("]),
    ("_priority", &["_priority"]),
    ("provided", &["provided"]),
    ("bit", &["bit "]),
    ("bool", &["bool "]),
    ("byte", &["byte "]),
    ("pid", &["pid "]),
    ("short", &["short "]),
    ("int", &["int "]),
    ("unsigned", &["unsigned "]),
    ("hidden", &["hidden "]),
    ("mtype", &["mtype = {"]),
    ("mtypes with a name", &["mtype:"]),
    ("typedef", &["typedef "]),
    ("arrays", &["["]),
    ("channels that keep messages", &["] of {"]),
    ("rendezvous", &["[0] of {"]),
    ("channels as fields of messages", &["chan }", ", chan"]),
    ("send", &["!"]),
    ("sorted send", &["!!"]),
    ("receive", &["?"]),
    ("receive anywhere", &["??"]),
    ("receive a copy", &["?<"]),
    ("look for a message", &["?["]),
    ("eval", &["eval("]),
    ("a field that is forgotten", &["?_", ", _"]),
    ("len", &["len("]),
    ("empty", &["empty("]),
    ("nempty", &["nempty("]),
    ("full", &[" full("]),
    ("nfull", &["nfull("]),
    ("xr", &["xr "]),
    ("if", &["if\n"]),
    ("do", &["do\n"]),
    ("else", &[":: else"]),
    ("break", &["break"]),
    ("goto", &["goto "]),
    ("for over numbers", &[" .. "]),
    ("for over an array", &[" in "]),
    ("select", &["select ("]),
    ("atomic", &["atomic {"]),
    ("d_step", &["d_step {"]),
    ("unless", &["unless"]),
    ("timeout", &["timeout"]),
    ("inline", &["inline "]),
    ("inlines with a value", &["return "]),
    ("assert", &["assert("]),
    ("printf", &["printf("]),
    ("printm", &["printm("]),
    ("conditional expressions", &["(open -> "]),
    ("arithmetic", &[" % "]),
    ("bits", &["~", " << ", " ^ "]),
    ("_pid", &["_pid"]),
    ("_nr_pr", &["_nr_pr"]),
    ("end labels", &["end:"]),
    ("progress labels", &["progress:"]),
    ("accept labels", &["accept_"]),
    ("formulas", &["ltl "]),
    ("traces", &["\ntrace {"]),
    ("traces that must not happen", &["notrace {"]),
    ("macros", &["#define "]),
    ("macros with parameters", &["#define reply("]),
    ("conditions of the preprocessor", &["#if", "#ifdef"]),
    ("processes in Rust", &["extern proctype"]),
];

#[test]
fn every_feature_is_in_some_model() {
    let mut texts = String::new();
    for entry in fs::read_dir(models()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "pml") {
            let text = fs::read_to_string(path).unwrap();
            let lines = text.lines();
            let code = lines.map(|line| line.split("//").next().unwrap_or(""));
            texts.extend(code.flat_map(|line| [line.trim_end(), "\n"]));
        }
    }
    let is_missing = |(_, words): &&(&str, &[&str])| !words.iter().any(|word| texts.contains(word));
    let missing: Vec<&str> = FEATURES.iter().filter(is_missing).map(|it| it.0).collect();
    assert!(missing.is_empty(), "no model has: {}", missing.join(", "));
}
