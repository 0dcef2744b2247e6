//! Expressions optimized to single reads of the state keep their meaning.

use super::{counts, fault};

#[test]
fn single_looks_are_what_they_stand_for() {
    // Array elements at variable indices, compared and negated; constant arrays; indices
    // that are not bytes. The counts were checked with Spin 6.5.2.
    counts(
        "byte a[3] = 1; byte i; bool t[3]; byte k[3] = 7; short s;
         active [2] proctype A() {
             byte j; bit m[2];
             do
             :: a[i] == 1 -> a[i] = 2
             :: !t[i] && a[j] != 0 -> t[j] = !t[j]; j = (j + 1) % 3
             :: !(a[i] < 2) -> i = (i + 1) % 3
             :: k[j] > 6 && !m[j % 2] -> m[_pid] = 1
             :: s > 0 && !(i == j) -> s = k[i] - 7
             :: !(!m[_pid]) -> break
             od
         }",
        32420,
        79204,
    );
    counts(
        "byte a[4]; byte i = 3;
         active proctype A() {
             do
             :: a[i] != 0 -> i--
             :: a[i] == 0 && i > 0 -> a[i] = i; assert(!(a[i] > 3))
             :: else -> break
             od
         }",
        18,
        18,
    );
    for condition in [
        "a[i] == 0",
        "!a[i]",
        "!(a[i] != 0)",
        "a[i] < 1 && i < 9",
        "k[i] == 7",
        "!(k[i] > 7)",
        "1 - a[i]",
    ] {
        let text = format!(
            "byte a[2]; byte k[2] = 7; byte i; active proctype A() {{ do :: {condition} -> i++ od }}"
        );
        fault(&text, "index");
        let text = format!(
            "byte a[2]; byte k[2] = 7; active proctype A() {{ byte i; do :: {condition} -> i++ od }}"
        );
        fault(&text, "index");
    }
}
