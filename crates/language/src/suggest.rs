//! "Did you mean": the known name nearest to an unknown one.
//!
//! The distance counts insertions, deletions, replacements and transpositions of
//! adjacent characters (optimal string alignment).

use strsim::osa_distance;

/// Returns the candidate nearest to `name` if it is near enough to be a typing error:
/// at most one change per three characters, or a difference in case.
pub fn suggest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let wanted = name.to_lowercase();
    let length = wanted.chars().count();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let limit = match best {
            Some((0, _)) => break,
            Some((distance, _)) => distance - 1,
            None => length.max(3) / 3,
        };
        // A character has at most four bytes, so names that are much too long or too
        // short are excluded without decoding.
        if candidate.len() > 4 * (length + limit)
            || candidate.len() + limit < length
            || candidate == name
        {
            continue;
        }
        let candidate_in_lower_case = candidate.to_lowercase();
        let candidate_length = candidate_in_lower_case.chars().count();
        if candidate_length.abs_diff(length) > limit {
            continue;
        }
        let distance = osa_distance(&wanted, &candidate_in_lower_case);
        if distance <= limit {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, candidates: &[&str], expected: Option<&str>) {
        let found = suggest(name, candidates.iter().copied());
        assert_eq!(found.as_deref(), expected, "suggestion for {name}");
    }

    #[test]
    fn nearest_name_wins() {
        check("psuh", &["pop", "push", "peek"], Some("push"));
        check(
            "queue_pus",
            &["queue_pop", "queue_push"],
            Some("queue_push"),
        );
        check("Ready", &["red", "ready"], Some("ready"));
        check("überlauf", &["ueberlauf", "uberlauf"], Some("uberlauf"));
    }

    #[test]
    fn far_names_are_not_suggested() {
        check("push", &["capacity", "x"], None);
        check("ab", &["xy"], None);
        check("", &["abc"], None);
        check("push", &[], None);
        check("push", &["push"], None);
    }
}
