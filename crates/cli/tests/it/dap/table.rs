//! The table of what the adapter supports: the book, the announced capabilities, the handlers and
//! the tests say the same.

use super::client::Client;
use juror_testing::repository_directory;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A row of the table in the book.
struct Row {
    feature: &'static str,
    /// The capabilities that the adapter announces.
    capabilities: &'static [&'static str],
    /// What a client asks for.
    requests: &'static [&'static str],
    /// The tests, with their files in this directory.
    tests: &'static [&'static str],
}

const fn row(
    feature: &'static str,
    capabilities: &'static [&'static str],
    requests: &'static [&'static str],
    tests: &'static [&'static str],
) -> Row {
    Row {
        feature,
        capabilities,
        requests,
        tests,
    }
}

/// What is there.
const TABLE: &[Row] = &[
    row(
        "sessions",
        &[
            "supportsConfigurationDoneRequest",
            "supportTerminateDebuggee",
        ],
        &["launch", "attach", "configurationDone", "disconnect"],
        &[
            "lifecycle::a_process_is_attached_to_and_goes_on",
            "lifecycle::a_launched_program_ends_with_the_connection",
            "lifecycle::a_launched_program_goes_on_if_the_client_wants_that",
        ],
    ),
    row(
        "threads and stacks",
        &[],
        &["threads", "stackTrace", "scopes", "variables", "evaluate"],
        &["sessions::from_a_breakpoint_to_the_violation"],
    ),
    row(
        "delayed stack loading",
        &["supportsDelayedStackTraceLoading"],
        &["stackTrace"],
        &["stacks::frames_are_read_by_page"],
    ),
    row(
        "running",
        &[],
        &["continue", "next", "stepIn", "stepOut", "pause"],
        &[
            "values::a_returned_value_is_a_scope",
            "breakpoints::breakpoints_are_set_while_the_program_runs",
        ],
    ),
    row(
        "terminate",
        &["supportsTerminateRequest"],
        &["terminate"],
        &["lifecycle::a_program_stops_at_its_entry_and_starts_again"],
    ),
    row(
        "restart",
        &["supportsRestartRequest"],
        &["restart"],
        &["lifecycle::a_program_stops_at_its_entry_and_starts_again"],
    ),
    row(
        "cancel",
        &["supportsCancelRequest"],
        &["cancel"],
        &["lifecycle::what_is_cancelled_is_not_done"],
    ),
    row(
        "conditions, hit counts, log points",
        &[
            "supportsConditionalBreakpoints",
            "supportsHitConditionalBreakpoints",
            "supportsLogPoints",
        ],
        &["setBreakpoints"],
        &[
            "breakpoints::conditions_and_hit_counts_decide",
            "breakpoints::a_log_point_writes_and_does_not_stop",
        ],
    ),
    row(
        "function breakpoints",
        &["supportsFunctionBreakpoints"],
        &["setFunctionBreakpoints"],
        &["breakpoints::what_cannot_be_set_says_why"],
    ),
    row(
        "instruction breakpoints",
        &["supportsInstructionBreakpoints"],
        &["setInstructionBreakpoints"],
        &["breakpoints::an_instruction_stops"],
    ),
    row(
        "data breakpoints",
        &["supportsDataBreakpoints", "supportsDataBreakpointBytes"],
        &["dataBreakpointInfo", "setDataBreakpoints"],
        &[
            "breakpoints::watched_memory_stops",
            "watching::a_watched_local_variable_ends_with_its_call",
        ],
    ),
    row(
        "exception filters",
        &[
            "exceptionBreakpointFilters",
            "supportsExceptionFilterOptions",
        ],
        &["setExceptionBreakpoints"],
        &[
            "code::exceptions_and_signals_stop_by_their_filters",
            "sessions::filters_choose_the_properties_that_stop",
            "sessions::filters_follow_the_properties_of_the_session",
        ],
    ),
    row(
        "exception info",
        &["supportsExceptionInfoRequest"],
        &["exceptionInfo"],
        &["sessions::from_a_breakpoint_to_the_violation"],
    ),
    row(
        "breakpoint locations",
        &["supportsBreakpointLocationsRequest"],
        &["breakpointLocations"],
        &[
            "code::sources_and_modules_are_listed",
            "columns::each_statement_of_a_line_stops_as_often_as_it_is_executed",
        ],
    ),
    row(
        "step in targets",
        &["supportsStepInTargetsRequest"],
        &["stepInTargets"],
        &[
            "stepping::each_call_of_a_line_can_be_stepped_into",
            "stepping::a_chosen_call_that_is_not_made_ends_at_the_next_line_and_says_so",
        ],
    ),
    row(
        "goto",
        &["supportsGotoTargetsRequest"],
        &["gotoTargets", "goto"],
        &["code::an_instruction_is_stepped_and_a_line_is_gone_to"],
    ),
    row(
        "restart frame",
        &["supportsRestartFrame"],
        &["restartFrame"],
        &[
            "restarting::an_outer_frame_of_a_recursion_begins_anew",
            "restarting::the_innermost_frame_begins_anew_with_structures_and_fractions",
            "restarting::a_frame_whose_arguments_are_not_known_is_refused_with_the_reason",
        ],
    ),
    row(
        "stepping granularity",
        &["supportsSteppingGranularity"],
        &["next"],
        &["code::an_instruction_is_stepped_and_a_line_is_gone_to"],
    ),
    row(
        "single thread",
        &["supportsSingleThreadExecutionRequests"],
        &["continue"],
        &["stepping::one_thread_runs_alone"],
    ),
    row(
        "thread events",
        &[],
        &[],
        &["stepping::threads_are_told_as_they_start_and_end"],
    ),
    row(
        "set variable",
        &["supportsSetVariable"],
        &["setVariable"],
        &[
            "values::values_are_set",
            "sessions::monitors_are_a_scope_that_can_be_set",
        ],
    ),
    row(
        "set expression",
        &["supportsSetExpression"],
        &["setExpression"],
        &["values::values_are_set"],
    ),
    row(
        "completions",
        &["supportsCompletionsRequest", "completionTriggerCharacters"],
        &["completions"],
        &["values::lines_of_the_repl_are_completed"],
    ),
    row(
        "modules",
        &["supportsModulesRequest"],
        &["modules"],
        &["code::sources_and_modules_are_listed"],
    ),
    row(
        "loaded sources",
        &["supportsLoadedSourcesRequest"],
        &["loadedSources", "source"],
        &["code::sources_and_modules_are_listed"],
    ),
    row(
        "memory and instructions",
        &[
            "supportsDisassembleRequest",
            "supportsReadMemoryRequest",
            "supportsWriteMemoryRequest",
        ],
        &["disassemble", "readMemory", "writeMemory"],
        &[
            "code::exactly_so_many_instructions_are_shown",
            "values::memory_is_read_and_written",
        ],
    ),
    row(
        "hovers and clipboard",
        &["supportsEvaluateForHovers", "supportsClipboardContext"],
        &["evaluate"],
        &[
            "values::a_hover_calls_no_function_and_the_repl_does",
            "forms::a_copy_is_whole",
        ],
    ),
    row(
        "value formatting",
        &["supportsValueFormattingOptions"],
        &["variables"],
        &[
            "values::parts_are_read_by_page",
            "forms::frames_are_named_as_the_client_asks",
        ],
    ),
    row(
        "styled output",
        &["supportsANSIStyling"],
        &[],
        &["robust::styles_are_sent_to_a_client_that_shows_them"],
    ),
    row(
        "run in terminal",
        &[],
        &[],
        &["terminals::the_program_reads_and_writes_in_a_terminal_of_the_client"],
    ),
    row(
        "core files",
        &[],
        &["attach"],
        &[
            "core_files::a_core_file_is_shown_as_a_program_that_is_stopped",
            "core_files::what_needs_a_process_is_refused_in_the_words_of_the_prompt",
        ],
    ),
    row(
        "properties",
        &[],
        &["exceptionInfo", "scopes"],
        &[
            "sessions::from_a_breakpoint_to_the_violation",
            "sessions::monitors_are_a_scope_that_can_be_set",
        ],
    ),
    row(
        "checkpoints",
        &[],
        &["evaluate"],
        &["checkpoints::a_restored_checkpoint_is_a_stop"],
    ),
];

/// The capabilities that some sessions have, and announce.
const PARTLY: &[Row] = &[row(
    "step back",
    &["supportsStepBack"],
    &["stepBack", "reverseContinue"],
    &[
        "recordings::a_recorded_run_goes_forwards_and_backwards",
        "recordings::a_program_does_not_go_back",
        "scheduled_runs::a_client_goes_back_in_a_recorded_run",
    ],
)];

/// The adapters that the book compares.
const ADAPTERS: [&str; 7] = [
    "juror",
    "gdb",
    "lldb-dap",
    "CodeLLDB",
    "delve",
    "BugStalker",
    "probe-rs",
];

/// The cells of a table in the book, which has a first row of heads.
fn table_of_the_book(number: usize) -> Vec<Vec<String>> {
    let page = repository_directory().join("book/src/adapter.md");
    let text = std::fs::read_to_string(page).unwrap();
    let mut tables: Vec<Vec<Vec<String>>> = vec![Vec::new()];
    for line in text.lines() {
        let row = line.strip_prefix("| ").and_then(|it| it.strip_suffix('|'));
        let last = tables.last_mut().unwrap();
        match row {
            Some(row) if row.starts_with("---") => {}
            Some(row) => last.push(row.split('|').map(|it| it.trim().to_owned()).collect()),
            None if last.is_empty() => {}
            None => tables.push(Vec::new()),
        }
    }
    tables.swap_remove(number)
}

/// Whether a request has no handler.
fn is_unknown(client: &mut Client, command: &str) -> bool {
    let seq = client.next_seq();
    client.send_unjudged(json!({ "seq": seq, "type": "request", "command": command }));
    let answer = client.answer(seq);
    let words = answer["body"]["error"]["format"].as_str();
    words.is_some_and(|it| it.ends_with("is not supported"))
}

#[test]
fn what_is_announced_is_in_the_table() {
    let mut client = Client::start();
    let announced = client.initialize();
    let is_there = |value: &Value| *value != json!(false);
    let fields = announced.as_object().unwrap().iter();
    let announced: BTreeSet<&str> = fields
        .filter(|(_, value)| is_there(value))
        .map(|(name, _)| name.as_str())
        .collect();
    let known = TABLE.iter().flat_map(|row| row.capabilities);
    assert_eq!(announced, known.copied().collect());
    for capability in PARTLY.iter().flat_map(|row| row.capabilities) {
        assert!(!announced.contains(capability), "{capability}");
    }
    client.leave();
}

#[test]
fn each_request_of_the_table_has_a_handler() {
    let mut client = Client::start();
    client.initialize();
    let rows = TABLE.iter().chain(PARTLY);
    let requests: BTreeSet<&str> = rows.flat_map(|row| row.requests).copied().collect();
    // The last one ends the session.
    for command in requests.iter().filter(|it| **it != "disconnect") {
        assert!(!is_unknown(&mut client, command), "{command}");
    }
    assert!(is_unknown(&mut client, "terminateThreads"));
    client.leave();
}

#[test]
fn each_row_of_the_table_has_tests_that_exist() {
    let directory = repository_directory().join("crates/cli/tests/it/dap");
    for row in TABLE.iter().chain(PARTLY) {
        assert!(!row.tests.is_empty(), "{}", row.feature);
        for test in row.tests {
            let (file, name) = test.split_once("::").unwrap();
            let text = std::fs::read_to_string(directory.join(format!("{file}.rs"))).unwrap();
            let wanted = format!("#[test]\nfn {name}() {{");
            assert!(
                text.contains(&wanted),
                "{}: there is no {test}",
                row.feature
            );
        }
    }
}

#[test]
fn the_book_has_the_same_rows() {
    let there = TABLE.iter().map(|row| (row.feature, "yes"));
    let partly = PARTLY.iter().map(|row| (row.feature, "partly"));
    let expected: BTreeSet<_> = there.chain(partly).collect();
    let compared = table_of_the_book(0);
    let (heads, rows) = compared.split_first().unwrap();
    assert_eq!(heads[0], "feature");
    assert_eq!(heads[1..], ADAPTERS);
    let found: BTreeSet<_> = rows
        .iter()
        .map(|cells| (cells[0].as_str(), cells[1].as_str()))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(rows.len(), found.len());
    for cells in rows {
        assert_eq!(cells.len(), 1 + ADAPTERS.len(), "{cells:?}");
        let others = cells[2..].iter().map(String::as_str);
        let is_known = |cell: &str| matches!(cell, "yes" | "no" | "partly" | "");
        assert!(others.into_iter().all(is_known), "{cells:?}");
    }
    let features = |table: &[Vec<String>]| -> Vec<String> {
        table.iter().map(|cells| cells[0].clone()).collect()
    };
    assert_eq!(features(&table_of_the_book(1)), features(&compared));
}
