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

/// Returns the nearest candidate to a qualified name that is wrong, or that leaves scopes out:
/// `lib::v2::total` for `lib::total` or `lib::totl`.
pub fn suggest_qualified<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let near = suggest(name, candidates.iter().copied());
    let (None, Some((scopes, last))) = (&near, name.rsplit_once("::")) else {
        return near;
    };
    // The ends of the candidates that have these scopes, in order, before their own name.
    let ends: Vec<(&str, &str)> = candidates
        .iter()
        .filter_map(|candidate| {
            let (around, end) = candidate.rsplit_once("::")?;
            let mut around = around.split("::");
            let has_all = scopes.split("::").all(|scope| around.any(|it| it == scope));
            has_all.then_some((end, *candidate))
        })
        .collect();
    let whole = |wanted: &str| {
        let mut found = ends.iter().filter(|(end, _)| *end == wanted);
        found.next().map(|(_, candidate)| (*candidate).to_owned())
    };
    whole(last).or_else(|| whole(&suggest(last, ends.iter().map(|(end, _)| *end))?))
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
    fn scopes_that_are_left_out_are_suggested() {
        let candidates = [
            "total",
            "lib::v2::total",
            "lib::v1::old",
            "other::v2::totals",
        ];
        for (name, expected) in [
            ("lib::total", Some("lib::v2::total")),
            ("lib::totl", Some("lib::v2::total")),
            ("v2::total", Some("lib::v2::total")),
            ("lib::old", Some("lib::v1::old")),
            ("nowhere::old", None),
            ("v2::lib::total", None),
            ("totla", Some("total")),
        ] {
            let found = suggest_qualified(name, candidates);
            assert_eq!(found.as_deref(), expected, "{name}");
        }
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
