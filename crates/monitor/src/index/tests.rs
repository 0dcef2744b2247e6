use super::*;
use crate::words::{UNBOUND, mask_of};
use proptest::prelude::*;

const STATE: StateId = StateId(0);
/// Events bind all three parameters, the first two, the first, or the last.
const EVENTS: [u32; 4] = [0b111, 0b011, 0b001, 0b100];

type Binding = [Word; 3];

/// An index and all slices that it contains.
struct Indexed {
    slices: Slices,
    index: Index,
    known: Vec<(Binding, Place)>,
}

impl Indexed {
    fn new() -> Indexed {
        Indexed {
            slices: Slices::new(3, &[], STATE, false),
            index: Index::new(EVENTS.to_vec(), true),
            known: Vec::new(),
        }
    }

    /// Adds the slice, or removes it if it is present.
    fn toggle(&mut self, binding: Binding) {
        let known = self.known.iter().position(|(known, _)| *known == binding);
        match known {
            Some(position) => {
                let (_, place) = self.known.swap_remove(position);
                self.index.remove(&self.slices, place);
                self.slices.remove(place);
            }
            None => {
                let place = self.slices.insert(&binding, STATE, &[], None);
                self.index.insert(&self.slices, place);
                self.known.push((binding, place));
            }
        }
    }

    /// Checks that a query with this binding finds the same as a look at each slice.
    fn check(&self, binding: Binding) {
        let mask = mask_of(&binding);
        let exact = self.index.exact(&self.slices, &binding, mask);
        let expected = self.known.iter().find(|(known, _)| *known == binding);
        assert_eq!(exact, expected.map(|(_, place)| *place), "{binding:?}");
        let mut found = Vec::new();
        self.index.targets(&self.slices, &binding, mask, &mut found);
        found.sort_unstable();
        let of_binding = self
            .known
            .iter()
            .filter(|(known, _)| agree(known, &binding, mask));
        let mut expected: Vec<Place> = of_binding.map(|(_, place)| *place).collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "{binding:?}");
        let mut masks = self.known.iter().map(|(known, _)| mask_of(known));
        let is_below = masks.any(|known| known & mask == known && known != mask);
        assert_eq!(self.index.has_below(mask, STATE), is_below, "{binding:?}");
        assert!(!self.index.has_below(mask, StateId(1)), "{binding:?}");
    }
}

proptest! {
    #![proptest_config(juror_testing::with_cases(300))]

    /// Chains are short at first and long later, in one of the parameters before the
    /// other.
    #[test]
    fn slices_are_found(
        toggled in prop::collection::vec((0..12_u64, 0..3_u64, 0..12_u64, 0..6_usize), 1..200),
    ) {
        let mut indexed = Indexed::new();
        for (first, second, third, shape) in toggled {
            let binding = match shape {
                0 => [first, second, UNBOUND],
                1 => [first, UNBOUND, UNBOUND],
                _ => [first, second, third],
            };
            indexed.toggle(binding);
            for event in EVENTS {
                let bound = |parameter: usize| match event >> parameter & 1 {
                    1 => [first, second, third][parameter],
                    _ => UNBOUND,
                };
                indexed.check([0, 1, 2].map(bound));
            }
        }
    }
}

/// Slices that end and begin take no more memory than slices that stay, in tables that
/// are not nearly full.
#[test]
fn tables_do_not_grow_while_as_many_end_as_begin() {
    let mut indexed = Indexed::new();
    let binding = |number: u64| [number / 10, 0, number];
    for number in 0..600 {
        indexed.toggle(binding(number));
    }
    let before = indexed.index.bytes();
    for number in 0..20_000 {
        indexed.toggle(binding(number));
        indexed.toggle(binding(number + 600));
    }
    assert!(
        indexed.index.bytes() <= before,
        "{before}: {}",
        indexed.index.bytes()
    );
}

#[test]
fn a_table_of_chains_has_room_for_the_first_of_each() {
    let mut slices = Slices::new(1, &[], STATE, false);
    let (mut chains, mut links) = (Chains::new(1), Links::default());
    assert_eq!(chains.bytes(), 0);
    for number in 0..600 {
        let place = slices.insert(&[number], STATE, &[], None);
        chains.insert(&slices, &mut links, place);
    }
    let of_places = 600 * size_of::<Place>();
    assert!(chains.bytes() >= of_places, "{}", chains.bytes());
}
