//! The settings of what a terminal shows, which a session and a recorded run have.

use crate::command_table::setting_names::Setting;
use crate::commands::set::{limit, switch};
use crate::state::presentation::Presentation;
use crate::state::source::Sources;
use juror_fault::CommandError;
use juror_view::Extent;

/// Returns whether a setting is about what a terminal shows of all results.
pub(crate) fn is_about_terminal(setting: Setting) -> bool {
    matches!(
        setting,
        Setting::Height
            | Setting::Pagination
            | Setting::StyleEnabled
            | Setting::StyleSources
            | Setting::Width
    )
}

/// Changes such a setting.
pub(crate) fn set(
    presentation: &mut Presentation,
    sources: &mut Sources,
    setting: Setting,
    value: &str,
) -> Result<(), CommandError> {
    let terminal = &mut presentation.terminal;
    match setting {
        Setting::Height => terminal.height = extent(value, "set height 40")?,
        Setting::Pagination => terminal.paginates = switch(value)?,
        Setting::StyleEnabled => terminal.has_styles = switch(value)?,
        Setting::StyleSources => sources.is_plain = !switch(value)?,
        Setting::Width => terminal.width = extent(value, "set width 100")?,
        _ => {}
    }
    Ok(())
}

/// Parses a number of columns or lines, or `auto`.
fn extent(word: &str, example: &str) -> Result<Extent, CommandError> {
    if word == "auto" {
        return Ok(Extent::Terminal);
    }
    Ok(match limit(word, example)? {
        u64::MAX => Extent::Unlimited,
        limit => Extent::Fixed(u32::try_from(limit).unwrap_or(u32::MAX)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_numbers_or_the_terminals() {
        for (word, expected) in [
            ("auto", Some(Extent::Terminal)),
            ("0", Some(Extent::Unlimited)),
            ("unlimited", Some(Extent::Unlimited)),
            ("80", Some(Extent::Fixed(80))),
            ("wide", None),
            ("", None),
        ] {
            assert_eq!(extent(word, "").ok(), expected, "{word}");
        }
    }
}
