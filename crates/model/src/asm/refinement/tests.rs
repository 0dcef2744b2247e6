//! A system in Rust and a machine that it is held to.

use super::*;
use crate::asm::load;
use crate::promela::Text;
use crate::toy::Toy;

/// A light that may be switched at any time, and breaks when it is on.
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
    let Err(Astray::Parted(parted)) = shadow.show(&["Off"]) else {
        panic!("what is broken does not go off");
    };
    assert_eq!(
        (&*parted.before, &*parted.after),
        (&["Broken".to_owned()][..], &["Off".to_owned()][..])
    );
    let Err(Astray::Parted(parted)) = begin().show(&["Broken"]) else {
        panic!("what is off does not break");
    };
    let words = parted.to_string();
    assert_eq!(
        words,
        "after light = Off came light = Broken\nthe model has light = On"
    );
}

#[test]
fn a_shadow_begins_where_the_machine_does() {
    let model = light();
    let on = Shadow::new(&model, &["light"], vec!["On".to_owned()]);
    assert!(matches!(on, Err(Astray::Parted(_))));
    let unknown = Shadow::new(&model, &["lamp"], vec!["On".to_owned()]);
    assert!(matches!(unknown, Err(Astray::Fault(fault)) if fault.code == "unknown-name"));
}

/// Numbers on a ring, shown as a light: the machine allows the first ones alone.
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
