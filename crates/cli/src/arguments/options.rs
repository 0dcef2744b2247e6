//! The options of a session, from its command line.

use super::TraceFormat;
use super::file_kind::{FileKind, file_kind, is_core_file, is_named_as_core};
use super::session::{Attach, Begins, Common, Cpu, Followed, Run, StoppedCalls, TierName};
use crate::directories;
use crate::driver::{
    AtInlined, CpuPolicy, Follow, InlinedPolicy, Options, Permissions, PropertySource, Recording,
    SelfCheck, SymbolCache, SymbolSettings, SystemCallStops, Tier,
};
use crate::session::self_check;
use anyhow::{Context as _, anyhow};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Returns where symbols are looked for, without options.
pub fn symbol_settings() -> SymbolSettings {
    SymbolSettings {
        cache: directories::cache().map(SymbolCache::new),
        ..SymbolSettings::default()
    }
}

impl Common {
    /// Returns the options of a session without those of its debuggee. Reads the property
    /// files.
    fn options(&self) -> anyhow::Result<Options> {
        Ok(Options {
            recording: self.recording()?,
            cpu: match self.cpu {
                Cpu::Auto => CpuPolicy::Auto,
                Cpu::Shared => CpuPolicy::Shared,
                Cpu::Free => CpuPolicy::Free,
            },
            follow: match self.follow {
                Followed::Parent => Follow::Parent,
                Followed::Child => Follow::Child,
                Followed::Both => Follow::Both,
            },
            tier: match self.tier {
                TierName::Auto => Tier::Auto,
                TierName::Native => Tier::Native,
                TierName::Trap => Tier::Trap,
            },
            properties: read_properties(&self.properties)?,
            scenarios: read_properties(&self.scenarios)?,
            permissions: Permissions {
                files: self.allow_files,
                programs: self.allow_programs,
            },
            history: self.history.unwrap_or_default(),
            batch: self.batch,
            inlined: InlinedPolicy {
                at: match self.at_inlined {
                    None => AtInlined::Never,
                    Some(Begins::Marked) => AtInlined::Marked,
                    Some(Begins::Likely) => AtInlined::Likely,
                },
                ignore: self.ignore_inlined,
            },
            allow_unbound: self.allow_unbound,
            self_check: self.self_check()?,
            control_check: self_check::control_check(),
            symbols: self.symbols(),
            ..Options::default()
        })
    }

    /// Returns whether something is to be done while a program runs.
    fn has_tasks(&self) -> bool {
        !self.properties.is_empty() || !self.scenarios.is_empty() || self.trace.is_some()
    }

    /// Returns where symbols are looked for, and the symbol cache.
    fn symbols(&self) -> SymbolSettings {
        let mut settings = SymbolSettings::default();
        let given = self.debug_file_directory.iter().cloned();
        settings.debug_file_directories.splice(0..0, given);
        settings.cache = if self.no_cache {
            None
        } else {
            directories::cache().map(SymbolCache::new)
        };
        settings
    }

    fn self_check(&self) -> anyhow::Result<Option<SelfCheck>> {
        Ok(match &self.self_check {
            None => None,
            Some(None) => Some(SelfCheck::new()),
            Some(Some(file)) => {
                let check = SelfCheck::with_log(file);
                Some(check.with_context(|| {
                    format!(
                        "the file {} for --self-check cannot be written",
                        file.display()
                    )
                })?)
            }
        })
    }

    /// Returns what is recorded, and where.
    fn recording(&self) -> anyhow::Result<Option<Recording>> {
        let Some(file) = &self.trace else {
            return Ok(None);
        };
        if self.properties.is_empty() && self.record.is_empty() {
            return Err(anyhow!(
                "--trace has nothing to record\n\
                 help: give events with --record 'before f(x)', or a property"
            ));
        }
        let is_binary = match self.trace_format {
            TraceFormat::Auto => file.extension().is_some_and(|it| it == "jtr"),
            TraceFormat::Json => false,
            TraceFormat::Binary => true,
            TraceFormat::Csv => {
                return Err(anyhow!(
                    "juror reads CSV traces, but does not write them\nhelp: use --trace-format json"
                ));
            }
        };
        Ok(Some(Recording {
            file: file.clone(),
            binary: is_binary,
            events: self.record.clone(),
        }))
    }
}

impl Attach {
    /// Returns the options of the session. Reads the property files.
    pub fn options(&self) -> anyhow::Result<Options> {
        self.common.options()
    }
}

impl Run {
    /// Returns the options of the session. Reads the property files.
    pub fn options(&self) -> anyhow::Result<Options> {
        let (words, core) = self.debuggee();
        if core.is_none() {
            self.check_core_word()?;
        }
        let (program, arguments) = match words.split_first() {
            Some((program, arguments)) => (program.into(), arguments.to_vec()),
            None if core.is_none() && self.common.has_tasks() => {
                return Err(anyhow!(
                    "the program is missing: properties and traces need one\n\
                     help: give it behind the options, or attach to a process: juror attach 1234"
                ));
            }
            None => Default::default(),
        };
        Ok(Options {
            program,
            core,
            arguments,
            environment: self.environment()?,
            clear_environment: self.clear_environment,
            directory: self.directory.clone(),
            stdin: self.stdin.clone(),
            stdout: self.stdout.clone(),
            stderr: self.stderr.clone(),
            append_stdout: self.append,
            append_stderr: self.append,
            randomize: self.aslr,
            checkpoints: self.checkpoint,
            system_calls: match self.system_calls {
                StoppedCalls::Auto => SystemCallStops::Auto,
                StoppedCalls::Filter => SystemCallStops::Filter,
                StoppedCalls::All => SystemCallStops::All,
            },
            ..self.common.options()?
        })
    }

    /// Returns the program with its arguments, and the core file. One that is the only word, or
    /// the only one after the program, is meant, as in gdb.
    fn debuggee(&self) -> (&[OsString], Option<PathBuf>) {
        let words = &*self.program;
        match words.split_last() {
            _ if self.core.is_some() => (words, self.core.clone()),
            Some((last, before)) if before.len() < 2 && !self.args && is_core_file(last) => {
                (before, Some(last.into()))
            }
            _ => (words, None),
        }
    }

    /// Refuses the only word after the program if it was meant as a core file, as in gdb: it is another
    /// program, or has the name of a core file. A program may well be given a library to load.
    fn check_core_word(&self) -> anyhow::Result<()> {
        let [program, word] = &*self.program else {
            return Ok(());
        };
        if self.args {
            return Ok(());
        }
        let why = match file_kind(word) {
            FileKind::Absent if is_named_as_core(word) => "does not exist",
            FileKind::Program => "is a program, and no core file",
            FileKind::Other if is_named_as_core(word) => "is no core file",
            _ => return Ok(()),
        };
        Err(anyhow!(
            "{word} {why}; the only word behind a program may be its core file\n\
             help: to run the program with this argument: juror --args {program} {word}",
            word = word.display(),
            program = program.display(),
        ))
    }

    /// Returns the variables to remove, then those to set.
    fn environment(&self) -> anyhow::Result<Vec<(OsString, Option<OsString>)>> {
        let removed = self.unset.iter().map(|name| Ok((name.clone(), None)));
        let set = self.environment.iter().map(|word| split_variable(word));
        removed.chain(set).collect()
    }
}

/// Reads property files, with the files that they use.
pub(super) fn read_properties(files: &[PathBuf]) -> anyhow::Result<Vec<PropertySource>> {
    let read = |file: &PathBuf| PropertySource::read(file).map_err(anyhow::Error::msg);
    files.iter().map(read).collect()
}

/// Splits `NAME=VALUE`.
fn split_variable(word: &OsStr) -> anyhow::Result<(OsString, Option<OsString>)> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let bytes = word.as_bytes();
    match bytes.iter().position(|&byte| byte == b'=') {
        None | Some(0) => Err(anyhow!(
            "--env takes NAME=VALUE, not `{}`; --unset-env removes a variable",
            word.display()
        )),
        Some(equals) => {
            let (name, value) = bytes.split_at(equals);
            let value = value.get(1..).unwrap_or(&[]).to_vec();
            Ok((
                OsString::from_vec(name.to_vec()),
                Some(OsString::from_vec(value)),
            ))
        }
    }
}
