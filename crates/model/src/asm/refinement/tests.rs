//! A system in Rust, checked against an abstract machine.

use super::*;
use crate::asm::load;
use crate::promela::Text;
use crate::toy::Toy;

/// A light that may be switched at any time, and that breaks while it is on.
const LIGHT: &str = "
    enum Light = Off | On | Broken
    controlled light : Light = Off
    monitored press : Bool
    monitored breaks : Bool
    main {
        if light = Off and press { light := On }
        if light = On and breaks { light := Broken }
        if light = On and press and not breaks { light := Off }
    }";

fn light() -> Model {
    let text = Text {
        name: "light.asm".to_owned(),
        text: LIGHT.to_owned(),
    };
    let none = &mut |name: &str| Err(format!("there is no {name}"));
    load(text, none).unwrap_or_else(|rejection| panic!("{:?}", rejection.faults))
}

#[test]
fn a_shadow_follows_what_the_machine_can_do() {
    let model = light();
    let begin = || Shadow::new(&model, &["light"], vec!["Off".to_owned()]).unwrap();
    let mut shadow = begin();
    for shown in ["Off", "On", "Off", "On", "On", "Broken", "Broken"] {
        shadow.show(&[shown]).unwrap();
    }
    let Err(ShadowError::Mismatch(parted)) = shadow.show(&["Off"]) else {
        panic!("what is broken does not go off");
    };
    assert_eq!(
        (&*parted.before, &*parted.after),
        (&["Broken".to_owned()][..], &["Off".to_owned()][..])
    );
    let Err(ShadowError::Mismatch(parted)) = begin().show(&["Broken"]) else {
        panic!("what is off does not break");
    };
    let words = parted.to_string();
    assert_eq!(
        words,
        "light = Broken is not allowed after light = Off\nthe model allows light = On"
    );
}

#[test]
fn a_shadow_begins_where_the_machine_does() {
    let model = light();
    let on = Shadow::new(&model, &["light"], vec!["On".to_owned()]);
    assert!(matches!(on, Err(ShadowError::Mismatch(_))));
    let unknown = Shadow::new(&model, &["lamp"], vec!["On".to_owned()]);
    assert!(matches!(unknown, Err(ShadowError::Fault(fault)) if fault.code == "unknown-name"));
}

/// A ring of numbers, shown as a light: the machine allows the first ones alone.
fn check(shows: &'static [&'static str], diverges: Option<usize>) {
    let ring = Toy::ring(shows.len() as u32);
    let show = |state: &[u8]| {
        let number = u32::from_le_bytes(state.try_into().unwrap());
        vec![shows[number as usize].to_owned()]
    };
    let options = Options::default();
    let model = light();
    let found = model.is_refined_by(&ring, &["light"], show, &options, &mut |_| true);
    let found = found.unwrap();
    assert_eq!((found.fault, found.cut), (None, None));
    let way = found
        .divergence
        .map(|divergence| divergence.trail.moves.len());
    assert_eq!(way, diverges, "{shows:?}");
}

#[test]
fn a_system_in_rust_is_held_to_the_machine() {
    check(&["Off", "On"], None);
    check(&["Off", "On", "On", "Off", "Off", "On"], None);
    // A ring goes round in both directions.
    check(&["Off", "On", "Broken"], Some(1));
    check(&["Off", "On", "Broken", "On"], Some(3));
    check(&["On"], Some(0));
}

/// A machine that counts unobservably.
fn counting() -> Model {
    let text = Text {
        name: "counting.asm".to_owned(),
        text: "controlled light : Int = 0 controlled hidden : Int = 0
               main { choose { light := 1 - light } or { hidden := hidden + 1 } }"
            .to_owned(),
    };
    load(text, &mut |name| Err(format!("there is no {name}")))
        .unwrap_or_else(|rejection| panic!("{:?}", rejection.faults))
}

#[test]
fn a_search_that_is_cut_short_says_so() {
    let model = light();
    // A ring of lights that go on and off, one of which is broken.
    let shows = |broken: Option<u32>| {
        move |state: &[u8]| {
            let number = u32::from_le_bytes(state.try_into().unwrap());
            let shown = match number % 2 {
                _ if Some(number) == broken => "Broken",
                0 => "Off",
                _ => "On",
            };
            vec![shown.to_owned()]
        }
    };
    let run = |broken, options: &Options, go_on: GoOn<'_>| {
        let ring = Toy::ring(1000);
        let found = model.is_refined_by(&ring, &["light"], shows(broken), options, go_on);
        let found = found.unwrap();
        (found.divergence.is_some(), found.cut)
    };
    let of_depth = |depth_max| Options {
        depth_max,
        ..Options::default()
    };
    let go_on = &mut |_| true;
    assert_eq!(run(None, &of_depth(500), go_on), (false, None));
    let deep = Some(Cut::Depth { limit: 499 });
    assert_eq!(run(None, &of_depth(499), go_on), (false, deep));
    // It breaks after ten steps, and a broken light does not continue.
    assert_eq!(run(Some(990), &of_depth(10), go_on), (true, None));
    let deep = Some(Cut::Depth { limit: 9 });
    assert_eq!(run(Some(990), &of_depth(9), go_on), (false, deep));
    let little = Options {
        memory_bytes_max: 10_000,
        ..Options::default()
    };
    let limit = 10_000;
    let cut = Some(Cut::Memory { limit });
    assert_eq!(run(None, &little, go_on), (false, cut));
    let few = Options {
        states_max: 999,
        ..Options::default()
    };
    let cut = Some(Cut::States { limit: 999 });
    assert_eq!(run(None, &few, go_on), (false, cut));
    let cut = Some(Cut::Interrupted);
    assert_eq!(run(None, &of_depth(9), &mut |_| false), (false, cut));
}

#[test]
fn an_abstract_machine_that_goes_on_for_ever_ends_the_search() {
    let model = counting();
    let show = |_: &[u8]| vec!["0".to_owned()];
    let check = |options: Options, cut: Cut| {
        let ring = Toy::ring(2);
        let found = model.is_refined_by(&ring, &["light"], show, &options, &mut |_| true);
        let found = found.unwrap();
        assert_eq!((found.cut, found.is_abstract), (Some(cut), true));
    };
    let options = Options::default();
    let states_max = 1000;
    check(
        Options {
            states_max,
            ..options
        },
        Cut::States { limit: states_max },
    );
    let memory_bytes_max = 100_000;
    check(
        Options {
            memory_bytes_max,
            ..options
        },
        Cut::Memory {
            limit: memory_bytes_max,
        },
    );
    let shadow = Shadow::new(&model, &["light"], vec!["0".to_owned()]);
    assert!(matches!(shadow, Err(ShadowError::Fault(fault)) if fault.code == "too-large"));
}
