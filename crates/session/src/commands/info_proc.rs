//! `info proc`, `info auxv`, `info program`: the process as the kernel knows it.
//!
//! Source: proc(5), and getauxval(3) for the names of the auxiliary vector.

use crate::session::Session;
use juror_debuggee::{Debuggee, Origin};
use juror_fault::CommandError;
use juror_program::locations;
use juror_view::{
    AuxiliaryEntryView, AuxiliaryKind, Location, MappingView, OpenFileView, Outcome,
    ProcessInfoView, ProgramView,
};

/// The subjects of `info proc`, with gdb's names.
const SUBJECTS: [&str; 9] = [
    "all", "cmdline", "cwd", "environ", "exe", "files", "limits", "mappings", "status",
];

/// Entries of the auxiliary vector: number, name, and kind of value.
const ENTRIES: [(u64, &str, AuxiliaryKind); 24] = [
    (3, "AT_PHDR", AuxiliaryKind::Address),
    (4, "AT_PHENT", AuxiliaryKind::Number),
    (5, "AT_PHNUM", AuxiliaryKind::Number),
    (6, "AT_PAGESZ", AuxiliaryKind::Number),
    (7, "AT_BASE", AuxiliaryKind::Address),
    (8, "AT_FLAGS", AuxiliaryKind::Address),
    (9, "AT_ENTRY", AuxiliaryKind::Address),
    (11, "AT_UID", AuxiliaryKind::Number),
    (12, "AT_EUID", AuxiliaryKind::Number),
    (13, "AT_GID", AuxiliaryKind::Number),
    (14, "AT_EGID", AuxiliaryKind::Number),
    (15, "AT_PLATFORM", AuxiliaryKind::String),
    (16, "AT_HWCAP", AuxiliaryKind::Address),
    (17, "AT_CLKTCK", AuxiliaryKind::Number),
    (23, "AT_SECURE", AuxiliaryKind::Number),
    (24, "AT_BASE_PLATFORM", AuxiliaryKind::String),
    (25, "AT_RANDOM", AuxiliaryKind::Address),
    (26, "AT_HWCAP2", AuxiliaryKind::Address),
    (27, "AT_RSEQ_FEATURE_SIZE", AuxiliaryKind::Number),
    (28, "AT_RSEQ_ALIGN", AuxiliaryKind::Number),
    (31, "AT_EXECFN", AuxiliaryKind::String),
    (32, "AT_SYSINFO", AuxiliaryKind::Address),
    (33, "AT_SYSINFO_EHDR", AuxiliaryKind::Address),
    (51, "AT_MINSIGSTKSZ", AuxiliaryKind::Number),
];

/// The limit of bytes of a string in the auxiliary vector.
const TEXT_LENGTH_MAX: usize = 4096;

/// Returns the words that may follow `info proc`.
pub(crate) fn subjects() -> impl Iterator<Item = &'static str> {
    SUBJECTS.into_iter()
}

/// `info proc`, `info proc mappings`
pub(crate) fn process_info(session: &Session, subject: &str) -> Result<Outcome, CommandError> {
    let process = session.running()?.debuggee.pid();
    let meant = match subject {
        "" => &["cmdline", "cwd", "exe"][..],
        "all" => &["cmdline", "cwd", "exe", "status", "mappings"],
        "fd" => &["files"],
        "stat" => &["status"],
        word => {
            let known = SUBJECTS.iter().position(|known| known.starts_with(word));
            let at = known.ok_or_else(|| {
                CommandError::with_help(
                    format!("info proc has no subject `{word}`"),
                    format!("it has {}", SUBJECTS.join(", ")),
                )
            })?;
            &SUBJECTS[at..=at]
        }
    };
    let mut view = ProcessInfoView {
        process,
        ..ProcessInfoView::default()
    };
    let debuggee = &session.running()?.debuggee;
    for what in meant {
        match debuggee.is_core_file() {
            true if meant.len() == 1 => describe_core(&mut view, what, debuggee)?,
            // What it does not have is left out of a summary.
            true => drop(describe_core(&mut view, what, debuggee)),
            false => describe(&mut view, what)?,
        }
    }
    Ok(Outcome::ProcessInfo(Box::new(view)))
}

/// `info auxv`
pub(crate) fn auxiliary_vector(session: &Session) -> Result<Outcome, CommandError> {
    let debuggee = &session.running()?.debuggee;
    let bytes = if debuggee.is_core_file() {
        let vector = debuggee.auxiliary_vector();
        vector.ok_or_else(|| not_in_core("the auxiliary vector"))?
    } else {
        read(debuggee.pid(), "auxv")?
    };
    let mut words = bytes.chunks_exact(8).map(|word| {
        let mut number = [0; 8];
        number.copy_from_slice(word);
        u64::from_le_bytes(number)
    });
    let mut views = Vec::new();
    while let (Some(number @ 1..), Some(value)) = (words.next(), words.next()) {
        let known = ENTRIES.iter().find(|(known, ..)| *known == number);
        let kind = known.map_or(AuxiliaryKind::Address, |it| it.2);
        let text = (kind == AuxiliaryKind::String).then(|| {
            let bytes = debuggee.read_text(value, TEXT_LENGTH_MAX);
            String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
        });
        views.push(AuxiliaryEntryView {
            number,
            name: known.map_or_else(|| format!("AT_{number}"), |it| it.1.to_owned()),
            value,
            kind,
            text,
        });
    }
    Ok(Outcome::AuxiliaryVector(views))
}

/// `info program`
pub(crate) fn program_info(session: &mut Session) -> Result<Outcome, CommandError> {
    let view = program_view(session)?;
    Ok(Outcome::Program(Box::new(view)))
}

/// Returns the view of the process and its selected thread.
pub(crate) fn program_view(session: &Session) -> Result<ProgramView, CommandError> {
    let thread = session.thread()?;
    let program = session.running()?;
    let debuggee = &program.debuggee;
    let address = program.registers(thread)?.instruction_pointer();
    let frame = program.modules.frame_at(address);
    let (function, file, line) = frame.map_or((None, None, None), |frame| {
        (frame.name, frame.file, frame.line)
    });
    Ok(ProgramView {
        process: debuggee.pid(),
        attached: debuggee.origin() == Origin::Attached,
        thread_count: debuggee.threads().count(),
        thread: program.thread_number(thread),
        location: Location {
            function,
            file: file.map(|file| file.display().to_string()),
            line,
            ..locations::location(program, address)
        },
    })
}

/// Fills in one of the subjects.
fn describe(view: &mut ProcessInfoView, subject: &str) -> Result<(), CommandError> {
    let process = view.process;
    let link = |name: &str| {
        let path = format!("/proc/{process}/{name}");
        let file = std::fs::read_link(&path).map_err(|error| unreadable(&path, &error))?;
        Ok::<_, CommandError>(Some(file.display().to_string()))
    };
    let text = |name: &str| {
        let bytes = read(process, name)?;
        Ok::<_, CommandError>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let lines = |name: &str| {
        let lines = text(name)?.lines().map(str::to_owned).collect();
        Ok::<_, CommandError>(Some(lines))
    };
    match subject {
        "cmdline" => view.command_line = Some(strings(&text("cmdline")?)),
        "cwd" => view.directory = link("cwd")?,
        "environ" => view.environment = Some(strings(&text("environ")?)),
        "exe" => view.program = link("exe")?,
        "files" => view.files = Some(files(process)?),
        "limits" => view.limits = lines("limits")?,
        "mappings" => view.mappings = Some(mappings(&text("maps")?)),
        _ => view.status = lines("status")?,
    }
    Ok(())
}

/// Fills in one of the subjects, of a core file.
fn describe_core(
    view: &mut ProcessInfoView,
    subject: &str,
    debuggee: &Debuggee,
) -> Result<(), CommandError> {
    match subject {
        "cmdline" => {
            let line = debuggee.core_arguments();
            let line = line.ok_or_else(|| not_in_core("the command line"))?;
            view.command_line = Some(line.split(' ').map(str::to_owned).collect());
        }
        "exe" => view.program = debuggee.program_file().map(|it| it.display().to_string()),
        "mappings" => {
            view.mappings = Some(mappings(&debuggee.memory_map().unwrap_or_default()));
        }
        subject => return Err(not_in_core(&format!("`info proc {subject}`"))),
    }
    Ok(())
}

fn not_in_core(what: &str) -> CommandError {
    CommandError::new(format!("{what} is not in the core file"))
}

/// Splits a text at its zeros; those at its end are dropped.
fn strings(text: &str) -> Vec<String> {
    let strings = text.trim_end_matches('\0').split('\0');
    strings.map(str::to_owned).collect()
}

/// Returns the open files, sorted.
fn files(process: u32) -> Result<Vec<OpenFileView>, CommandError> {
    let path = format!("/proc/{process}/fd");
    let entries = std::fs::read_dir(&path).map_err(|error| unreadable(&path, &error))?;
    let mut files: Vec<OpenFileView> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let descriptor = entry.file_name().to_str()?.parse().ok()?;
            let file = std::fs::read_link(entry.path()).ok()?;
            Some(OpenFileView {
                descriptor,
                file: file.display().to_string(),
            })
        })
        .collect();
    files.sort();
    Ok(files)
}

/// Parses the lines of `/proc/PID/maps`.
fn mappings(text: &str) -> Vec<MappingView> {
    let mappings = juror_debuggee::mappings(text);
    let views = mappings.map(|mapping| MappingView {
        start: mapping.range.start,
        end: mapping.range.end,
        offset_bytes: mapping.offset,
        permissions: mapping.permissions.to_owned(),
        name: mapping.name.to_owned(),
    });
    views.collect()
}

fn read(process: u32, name: &str) -> Result<Vec<u8>, CommandError> {
    let path = format!("/proc/{process}/{name}");
    std::fs::read(&path).map_err(|error| unreadable(&path, &error))
}

fn unreadable(path: &str, error: &std::io::Error) -> CommandError {
    CommandError::new(format!("{path} cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_is_described() {
        let mut view = ProcessInfoView {
            process: std::process::id(),
            ..ProcessInfoView::default()
        };
        for subject in SUBJECTS.into_iter().filter(|subject| *subject != "all") {
            assert_eq!(describe(&mut view, subject), Ok(()), "{subject}");
        }
        let lists = [
            &view.command_line,
            &view.environment,
            &view.limits,
            &view.status,
        ];
        for list in lists {
            assert!(list.as_ref().is_some_and(|it| !it.is_empty()), "{view:?}");
        }
        assert!(view.directory.is_some() && view.program.is_some());
        assert!(view.files.is_some_and(|it| !it.is_empty()));
        assert!(view.mappings.is_some_and(|it| it[0].start < it[0].end));
    }

    #[test]
    fn entries_are_in_order() {
        assert!(ENTRIES.is_sorted_by_key(|entry| entry.0));
    }
}
