//! Source lines as they are written in events: `queue.c:42`.

/// Splits `FILE:LINE` into the file and the line; `None` without a file or a line from 1 on.
pub fn split_line(subject: &str) -> Option<(&str, u32)> {
    let (file, line) = subject.rsplit_once(':')?;
    let line = line.trim().parse().ok().filter(|&line| line > 0)?;
    (!file.is_empty()).then_some((file, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_file_and_a_number() {
        for (subject, expected) in [
            ("queue.c:42", Some(("queue.c", 42))),
            ("src/a b.c:7", Some(("src/a b.c", 7))),
            ("queue.c", None),
            (":42", None),
            ("queue.c:0", None),
            ("queue.c:x", None),
        ] {
            assert_eq!(split_line(subject), expected, "{subject}");
        }
    }
}
