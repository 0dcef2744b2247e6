//! `info proc`, `info auxv`, `info program`: the process as the kernel knows it.
//!
//! Source: proc(5), and getauxval(3) for the names of the auxiliary vector.

use crate::inspect::locations;
use crate::session::Session;
use juror_debuggee::Origin;
use juror_view::Outcome;
use juror_view::error::CommandError;
use std::fmt::Write;
use std::ops::Range;

/// What `info proc` shows, with gdb's words for it.
const SUBJECTS: [&str; 9] = [
    "all", "cmdline", "cwd", "environ", "exe", "files", "limits", "mappings", "status",
];

/// Entries of the auxiliary vector: number, name, and what the value is.
const ENTRIES: [(u64, &str, Entry); 24] = [
    (3, "AT_PHDR", Entry::Address),
    (4, "AT_PHENT", Entry::Number),
    (5, "AT_PHNUM", Entry::Number),
    (6, "AT_PAGESZ", Entry::Number),
    (7, "AT_BASE", Entry::Address),
    (8, "AT_FLAGS", Entry::Address),
    (9, "AT_ENTRY", Entry::Address),
    (11, "AT_UID", Entry::Number),
    (12, "AT_EUID", Entry::Number),
    (13, "AT_GID", Entry::Number),
    (14, "AT_EGID", Entry::Number),
    (15, "AT_PLATFORM", Entry::Text),
    (16, "AT_HWCAP", Entry::Address),
    (17, "AT_CLKTCK", Entry::Number),
    (23, "AT_SECURE", Entry::Number),
    (24, "AT_BASE_PLATFORM", Entry::Text),
    (25, "AT_RANDOM", Entry::Address),
    (26, "AT_HWCAP2", Entry::Address),
    (27, "AT_RSEQ_FEATURE_SIZE", Entry::Number),
    (28, "AT_RSEQ_ALIGN", Entry::Number),
    (31, "AT_EXECFN", Entry::Text),
    (32, "AT_SYSINFO", Entry::Address),
    (33, "AT_SYSINFO_EHDR", Entry::Address),
    (51, "AT_MINSIGSTKSZ", Entry::Number),
];

/// The longest text of the auxiliary vector that is shown.
const TEXT_LENGTH_MAX: usize = 4096;

/// What the value of an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Address,
    Number,
    /// The address of a text.
    Text,
}

/// What can be completed after `info proc`.
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
                    format!("info proc does not show `{word}`"),
                    format!("it shows {}", SUBJECTS.join(", ")),
                )
            })?;
            &SUBJECTS[at..=at]
        }
    };
    let mut text = match subject {
        "" | "all" => format!("process {process}\n"),
        _ => String::new(),
    };
    for what in meant {
        text.push_str(&described(process, what)?);
    }
    Ok(Outcome::Message(text.trim_end().to_owned()))
}

/// `info auxv`
pub(crate) fn auxiliary_vector(session: &Session) -> Result<Outcome, CommandError> {
    let debuggee = &session.running()?.debuggee;
    let bytes = read(debuggee.pid(), "auxv")?;
    let mut words = bytes.chunks_exact(8).map(|word| {
        let mut number = [0; 8];
        number.copy_from_slice(word);
        u64::from_le_bytes(number)
    });
    let mut text = String::new();
    while let (Some(number @ 1..), Some(value)) = (words.next(), words.next()) {
        let known = ENTRIES.iter().find(|(known, ..)| *known == number);
        let name = known.map_or_else(|| format!("AT_{number}"), |it| it.1.to_owned());
        let shown = match known.map(|it| it.2) {
            Some(Entry::Number) => value.to_string(),
            Some(Entry::Text) => {
                let bytes = debuggee.read_text(value, TEXT_LENGTH_MAX);
                let bytes = bytes.unwrap_or_default();
                format!("{value:#x} \"{}\"", String::from_utf8_lossy(&bytes))
            }
            Some(Entry::Address) | None => format!("{value:#x}"),
        };
        let _ = writeln!(text, "{number:<3} {name:<21} {shown}");
    }
    Ok(Outcome::Message(text.trim_end().to_owned()))
}

/// `info program`
pub(crate) fn program_info(session: &mut Session) -> Result<Outcome, CommandError> {
    let thread = session.thread()?;
    let place = session.running()?.registers(thread)?.rip;
    let program = session.running()?;
    let debuggee = &program.debuggee;
    let origin = match debuggee.origin() {
        Origin::Attached => "was there before juror",
        _ => "was started by juror",
    };
    let count = debuggee.threads().count();
    let threads = if count == 1 { "thread" } else { "threads" };
    Ok(Outcome::Message(format!(
        "process {} {origin}; it has {count} {threads}\nthread {} is selected, at {}",
        debuggee.pid(),
        program.thread_number(thread),
        locations::place_words(session, place)
    )))
}

/// One of the subjects, with the end of its last line.
fn described(process: u32, what: &str) -> Result<String, CommandError> {
    let link = |name: &str| {
        let path = format!("/proc/{process}/{name}");
        std::fs::read_link(&path).map_err(|error| unreadable(&path, &error))
    };
    let words = |name: &str| {
        let bytes = read(process, name)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok::<_, CommandError>(text)
    };
    Ok(match what {
        "cmdline" => {
            let line = words("cmdline")?;
            let words: Vec<&str> = line.trim_end_matches('\0').split('\0').collect();
            format!("command    {}\n", words.join(" "))
        }
        "cwd" => format!("directory  {}\n", link("cwd")?.display()),
        "exe" => format!("program    {}\n", link("exe")?.display()),
        "environ" => words("environ")?.replace('\0', "\n"),
        "files" => files(process)?,
        "mappings" => mappings(&words("maps")?),
        name => words(name)?,
    })
}

/// The open files, with what each is.
fn files(process: u32) -> Result<String, CommandError> {
    let path = format!("/proc/{process}/fd");
    let entries = std::fs::read_dir(&path).map_err(|error| unreadable(&path, &error))?;
    let mut files: Vec<(u32, String)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let number = entry.file_name().to_str()?.parse().ok()?;
            let file = std::fs::read_link(entry.path()).ok()?;
            Some((number, file.display().to_string()))
        })
        .collect();
    files.sort();
    let lines = files
        .iter()
        .map(|(number, file)| format!("{number:<4} {file}\n"));
    Ok(lines.collect())
}

/// The lines of `/proc/PID/maps` as a table.
fn mappings(text: &str) -> String {
    let mut table = format!(
        "{:<18} {:<18} {:>10} {:>10} {:<5} {}\n",
        "start", "end", "size", "offset", "may", "what"
    );
    for mapping in juror_debuggee::mappings(text) {
        let Range { start, end } = mapping.range;
        let (size, offset) = (end.saturating_sub(start), mapping.offset);
        let (may, name) = (mapping.permissions, mapping.name);
        let row = format!("{start:#018x} {end:#018x} {size:>#10x} {offset:>#10x} {may:<5} {name}");
        table.push_str(row.trim_end());
        table.push('\n');
    }
    table
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
    fn maps_are_a_table() {
        let maps = "\
5555-6555 r-xp 00001000 08:01 1234                       /home/me/a program
7fff00-7fff10 rw-p 00000000 00:00 0 
ffff-ffff zz
nonsense
7000-8000 ---p 00000000 00:00 0                          [stack]
";
        assert_eq!(
            mappings(maps),
            "\
start              end                      size     offset may   what
0x0000000000005555 0x0000000000006555     0x1000     0x1000 r-xp  /home/me/a program
0x00000000007fff00 0x00000000007fff10       0x10        0x0 rw-p
0x000000000000ffff 0x000000000000ffff        0x0        0x0 zz
0x0000000000007000 0x0000000000008000     0x1000        0x0 ---p  [stack]
"
        );
    }

    #[test]
    fn what_is_shown_is_there() {
        let process = std::process::id();
        for subject in SUBJECTS.into_iter().filter(|subject| *subject != "all") {
            let shown = described(process, subject);
            assert!(shown.is_ok_and(|it| !it.is_empty()), "{subject}");
        }
        assert!(described(process, "nonsense").is_err());
    }

    #[test]
    fn entries_are_in_order() {
        assert!(ENTRIES.is_sorted_by_key(|entry| entry.0));
    }
}
