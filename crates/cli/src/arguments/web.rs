//! The value of `--web`.

use std::path::PathBuf;
use std::str::FromStr;

/// The error of `--web` in a juror without the page.
#[cfg(not(feature = "web"))]
pub const NO_PAGE: &str = "this juror was built without the page: build it with the feature `web`, \
                           which is on by default";

/// A value of `--web`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "web"),
    expect(dead_code, reason = "every value is refused")
)]
pub enum Web {
    /// A page at this port of the loopback interface; 0 for a free one.
    Page(u16),
    /// One file with the last moment of the run.
    Report(PathBuf),
}

impl FromStr for Web {
    type Err = String;

    #[cfg(not(feature = "web"))]
    fn from_str(_: &str) -> Result<Web, String> {
        Err(NO_PAGE.to_owned())
    }

    #[cfg(feature = "web")]
    fn from_str(text: &str) -> Result<Web, String> {
        let is_report = [".html", ".htm"].iter().any(|end| text.ends_with(end));
        match text.parse() {
            Ok(port) => Ok(Web::Page(port)),
            Err(_) if text.is_empty() => Ok(Web::Page(0)),
            Err(_) if is_report => Ok(Web::Report(PathBuf::from(text))),
            Err(_) => Err("expected a port, or a file whose name ends in .html".to_owned()),
        }
    }
}

#[cfg(all(test, feature = "web"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_report_and_a_number_a_port() {
        for (text, expected) in [
            ("", Ok(Web::Page(0))),
            ("8080", Ok(Web::Page(8080))),
            ("report.html", Ok(Web::Report("report.html".into()))),
            ("report", Err(())),
            ("70000", Err(())),
        ] {
            assert_eq!(text.parse::<Web>().map_err(|_| ()), expected, "{text}");
        }
    }
}
