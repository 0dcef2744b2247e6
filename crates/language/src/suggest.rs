//! "Did you mean": the known name nearest to an unknown one.
//!
//! The distance counts insertions, deletions, replacements and transpositions of
//! adjacent characters (optimal string alignment).

/// Returns the candidate nearest to `name` if it is near enough to be a typing error:
/// at most one change per three characters, or a difference in case.
pub fn suggest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let wanted: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
    let mut best: Option<(usize, &str)> = None;
    let mut rows = Rows::default();
    for candidate in candidates {
        let limit = match best {
            Some((0, _)) => break,
            Some((distance, _)) => distance - 1,
            None => (wanted.len().max(3)) / 3,
        };
        // A character has at most four bytes, so names that are much too long or too
        // short are excluded without decoding.
        if candidate.len() > 4 * (wanted.len() + limit)
            || candidate.len() + limit < wanted.len()
            || candidate == name
        {
            continue;
        }
        if let Some(distance) = rows.distance(&wanted, candidate, limit) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate.to_owned())
}

/// The three live rows of the distance table, reused between calls.
#[derive(Default)]
struct Rows {
    other: Vec<char>,
    before: Vec<usize>,
    last: Vec<usize>,
    current: Vec<usize>,
}

impl Rows {
    /// Returns the distance if it is at most `limit`.
    fn distance(&mut self, wanted: &[char], candidate: &str, limit: usize) -> Option<usize> {
        self.other.clear();
        self.other
            .extend(candidate.chars().flat_map(char::to_lowercase));
        if wanted.len().abs_diff(self.other.len()) > limit {
            return None;
        }
        self.last.clear();
        self.last.extend(0..=self.other.len());
        for (row, &left) in wanted.iter().enumerate() {
            self.current.clear();
            self.current.push(row + 1);
            for (column, &right) in self.other.iter().enumerate() {
                let replaced = self.last[column] + usize::from(left != right);
                let mut cell = replaced
                    .min(self.last[column + 1] + 1)
                    .min(self.current[column] + 1);
                if row > 0
                    && column > 0
                    && left == self.other[column - 1]
                    && wanted[row - 1] == right
                {
                    cell = cell.min(self.before[column - 1] + 1);
                }
                self.current.push(cell);
            }
            if self.current.iter().all(|&cell| cell > limit) {
                return None;
            }
            std::mem::swap(&mut self.before, &mut self.last);
            std::mem::swap(&mut self.last, &mut self.current);
        }
        self.last.last().copied().filter(|&found| found <= limit)
    }
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
