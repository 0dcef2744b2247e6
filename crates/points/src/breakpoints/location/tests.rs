use crate::breakpoints::location::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Libraries by number, with the file addresses of the location in each.
const PLACES: [&[u64]; 3] = [&[0x10], &[0x10, 0x20], &[]];

fn path(library: usize) -> Rc<Path> {
    Path::new(["a.so", "b.so", "c.so"][library]).into()
}

/// The loaded libraries, each with its address.
type Loaded = Vec<(usize, u64)>;

fn found(loaded: &Loaded) -> Vec<Found> {
    let places = loaded.iter().flat_map(|&(library, bias)| {
        PLACES[library].iter().map(move |&file_address| Found {
            module: path(library),
            file_address,
            address: bias + file_address,
            outlined_part: None,
        })
    });
    places.collect()
}

/// A breakpoint with the memory that its changes are applied to.
#[derive(Default)]
struct Case {
    locations: Locations,
    disabled: bool,
    loaded: Loaded,
    memory: BTreeMap<u64, i32>,
}

impl Case {
    fn carry_out(&mut self) {
        let mut changes = Vec::new();
        self.locations.settle(!self.disabled, &mut changes);
        for change in changes {
            match change {
                Change::Insert(address) => *self.memory.entry(address).or_default() += 1,
                Change::Remove(address) => *self.memory.entry(address).or_default() -= 1,
            }
        }
        self.memory.retain(|_, count| *count != 0);
    }

    fn rebind(&mut self) {
        let loaded = self.loaded.clone();
        let is_loaded = |wanted: &Path| loaded.iter().any(|&(it, _)| &*path(it) == wanted);
        self.locations.rebind(&found(&loaded), is_loaded);
        self.carry_out();
    }

    fn load(&mut self, library: usize, bias: u64) {
        self.loaded.push((library, bias));
        self.rebind();
    }

    fn unload(&mut self, bias: u64) {
        self.loaded.retain(|&(_, at)| at != bias);
        self.rebind();
    }

    fn planted(&self) -> Vec<u64> {
        self.memory.keys().copied().collect()
    }

    fn numbers(&self) -> Vec<u32> {
        self.locations.bound().map(|it| it.number).collect()
    }
}

#[test]
fn unloading_one_module_unbinds_no_other() {
    let mut case = Case::default();
    case.load(0, 0x1000);
    case.load(1, 0x2000);
    assert_eq!(case.planted(), [0x1010, 0x2010, 0x2020]);
    case.unload(0x1000);
    assert_eq!(case.planted(), [0x2010, 0x2020]);
    assert_eq!(case.numbers(), [2, 3]);
    case.load(0, 0x3000);
    assert_eq!(case.planted(), [0x2010, 0x2020, 0x3010]);
    assert_eq!(case.numbers(), [1, 2, 3]);
}

#[test]
fn one_file_may_be_loaded_twice() {
    let mut case = Case::default();
    case.load(0, 0x1000);
    case.load(0, 0x2000);
    assert_eq!(case.numbers(), [1, 2]);
    case.unload(0x1000);
    assert_eq!(case.planted(), [0x2010]);
    assert_eq!(case.numbers(), [2]);
}

#[test]
fn what_is_disabled_stays_so_while_its_module_is_away() {
    let mut case = Case::default();
    case.load(1, 0x1000);
    case.locations.numbered(2).unwrap().enabled = false;
    case.unload(0x1000);
    case.load(1, 0x5000);
    assert_eq!(case.planted(), [0x5010]);
    case.disabled = true;
    case.carry_out();
    case.unload(0x5000);
    case.load(1, 0x6000);
    assert!(case.planted().is_empty());
    case.disabled = false;
    case.carry_out();
    assert_eq!(case.planted(), [0x6010]);
}

#[test]
fn a_library_that_was_built_anew_forgets_its_old_places() {
    let mut case = Case::default();
    case.load(0, 0x1000);
    case.unload(0x1000);
    let moved = Found {
        file_address: 0x18,
        address: 0x1018,
        module: path(0),
        outlined_part: None,
    };
    case.locations.rebind(&[moved], |it| *it == *path(0));
    case.carry_out();
    assert_eq!(case.planted(), [0x1018]);
    assert_eq!(case.numbers(), [2]);
    assert_eq!(case.locations.iter().count(), 1);
}

#[derive(Debug, Clone)]
enum Step {
    Load(usize, u64),
    Unload(usize),
    Enable(bool),
    EnableLocation(u32, bool),
    /// The process ends, and another begins with nothing loaded.
    Restart,
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3usize, 1..8u64).prop_map(|(library, slot)| Step::Load(library, slot << 12)),
        3 => (0..4usize).prop_map(Step::Unload),
        1 => any::<bool>().prop_map(Step::Enable),
        1 => (1..6u32, any::<bool>()).prop_map(|(number, on)| Step::EnableLocation(number, on)),
        1 => Just(Step::Restart),
    ]
}

proptest! {
    /// After any sequence of operations, breakpoints are inserted once at each location of the
    /// loaded modules, except disabled ones.
    #[test]
    fn traps_are_where_the_definition_wants_them(
        steps in prop::collection::vec(steps(), 0..40)
    ) {
        let mut case = Case::default();
        for step in steps {
            match step {
                Step::Load(library, bias) => {
                    if case.loaded.iter().all(|&(_, at)| at != bias) {
                        case.load(library, bias);
                    }
                }
                Step::Unload(index) => {
                    if let Some(&(_, bias)) = case.loaded.get(index) {
                        case.unload(bias);
                    }
                }
                Step::Enable(on) => {
                    case.disabled = !on;
                    case.carry_out();
                }
                Step::EnableLocation(number, on) => {
                    if let Some(location) = case.locations.numbered(number) {
                        location.enabled = on;
                    }
                    case.carry_out();
                }
                Step::Restart => {
                    case.loaded.clear();
                    case.memory.clear();
                    case.locations.forget_process();
                    case.rebind();
                }
            }
            let is_off = |address: u64| {
                let here = |it: &&Location| it.address == Some(address);
                case.locations.iter().find(here).is_none_or(|it| !it.enabled)
            };
            let wanted: BTreeMap<u64, i32> = found(&case.loaded)
                .iter()
                .map(|it| it.address)
                .filter(|&address| !case.disabled && !is_off(address))
                .map(|address| (address, 1))
                .collect();
            prop_assert_eq!(&case.memory, &wanted);
            // One location per address, each with its own number.
            let mut numbers: Vec<u32> = case.locations.iter().map(|it| it.number).collect();
            prop_assert_eq!(case.locations.bound().count(), found(&case.loaded).len());
            numbers.dedup();
            prop_assert_eq!(numbers.len(), case.locations.iter().count());
        }
    }
}
