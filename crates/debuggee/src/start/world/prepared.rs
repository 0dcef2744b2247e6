//! The steps of a world as system calls take them.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use libc::c_ulong;

use super::layout::{Maker, Step};

/// A step with its paths.
pub(super) struct Prepared {
    pub(super) kind: Kind,
    pub(super) source: CString,
    pub(super) target: CString,
    pub(super) upper: CString,
    pub(super) work: CString,
    pub(super) options: CString,
    pub(super) flags: c_ulong,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Keep,
    Layer,
    ReadOnly,
    Queues,
}

/// Returns a step with its paths and options.
pub(super) fn prepared(maker: Maker, index: usize, step: &Step) -> io::Result<Prepared> {
    let below = |root: &str| {
        let inner = step.path().strip_prefix("/").unwrap_or(step.path());
        // No slash at its end, which the root's would have.
        let path = if inner.as_os_str().is_empty() {
            PathBuf::from(root)
        } else {
            Path::new(root).join(inner)
        };
        path.into_os_string().into_vec()
    };
    let (kind, flags) = match step {
        Step::Keep(_) => (Kind::Keep, 0),
        Step::Layer(_, flags) => (Kind::Layer, *flags),
        Step::ReadOnly(_, flags) => (Kind::ReadOnly, *flags),
        Step::Queues(_) => (Kind::Queues, 0),
    };
    let (source, target) = (below("/old"), below("/new"));
    let (upper, work) = (format!("/upper{index}"), format!("/work{index}"));
    let mut options = b"lowerdir=".to_vec();
    options.extend(escaped(&source));
    let rest = match maker {
        Maker::Privileged => "index=off,redirect_dir=on",
        Maker::Anyone => "index=off,userxattr",
    };
    options.extend(format!(",upperdir={upper},workdir={work},{rest}").into_bytes());
    Ok(Prepared {
        kind,
        source: CString::new(source)?,
        target: CString::new(target)?,
        upper: CString::new(upper)?,
        work: CString::new(work)?,
        options: CString::new(options)?,
        flags,
    })
}

/// Escapes what separates the options, and the directories in one.
fn escaped(path: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(path.len());
    for byte in path {
        if matches!(byte, b',' | b':' | b'\\') {
            text.push(b'\\');
        }
        text.push(*byte);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_escaped() {
        let step = Step::Layer("/a,b:c\\d".into(), 0);
        let Ok(prepared) = prepared(Maker::Anyone, 3, &step) else {
            panic!("no step");
        };
        let expected =
            r"lowerdir=/old/a\,b\:c\\d,upperdir=/upper3,workdir=/work3,index=off,userxattr";
        assert_eq!(prepared.options.to_str(), Ok(expected));
        assert_eq!(prepared.target.to_bytes(), b"/new/a,b:c\\d");
    }

    #[test]
    fn the_root_is_itself() {
        let step = Step::Keep("/".into());
        let Ok(prepared) = prepared(Maker::Privileged, 0, &step) else {
            panic!("no step");
        };
        assert_eq!(prepared.source.to_bytes(), b"/old");
        assert_eq!(prepared.target.to_bytes(), b"/new");
    }
}
