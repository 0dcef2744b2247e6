use super::*;
use crate::asm::load;

const MODEL: &str = "enum Mode = Off | On | Broken
    controlled mode : Mode = Off
    controlled count : Int = 0
    monitored button : Bool
    monitored level(n : 1..2) : Int
    shared request : optional Int = undef
    main {
        if button { mode := On }
        if request != undef {
            count := request + level(1)
            request := undef
        }
        choose x in {1, 2, 3} with mode = On { count := x }
        if count > 9 { choose { word := \"a|b\" } or { word := \"c//d\" } }
    }
    controlled word : Text = \"\"
    invariant notBroken = mode != Broken";

fn text(name: &str, text: &str) -> Text {
    Text {
        name: name.to_owned(),
        text: text.to_owned(),
    }
}

/// Returns the values at the end, or the faults with their locations.
fn run(script: &str) -> String {
    let mut model = load(text("test.asm", MODEL), &mut |_| Err(String::new())).unwrap();
    let show = |model: &Model, fault: &Fault| {
        let place = fault.span.map_or("", |span| model.source(span));
        format!("{} [{place}]", fault.message)
    };
    let script = match Script::read(&mut model, text("test.run", script)) {
        Ok(script) => script,
        Err(faults) => {
            let faults: Vec<String> = faults.iter().map(|fault| show(&model, fault)).collect();
            return faults.join("; ");
        }
    };
    match script.run(&model, &mut |_| {}) {
        Ok(state) => {
            let values = model.values_of(&state);
            let values: Vec<String> = values
                .iter()
                .map(|value| format!("{} = {}", value.name, value.value))
                .collect();
            values.join(", ")
        }
        Err(fault) => show(&model, &fault),
    }
}

fn check(script: &str, expected: &str) {
    assert_eq!(run(script), expected, "{script}");
}

#[test]
fn lines_set_and_step_and_check() {
    check("", "mode = Off, count = 0, request = undef, word = \"\"");
    check(
        "// a comment\nset button = false\nstep\n\nstep 3 // more\n",
        "mode = Off, count = 0, request = undef, word = \"\"",
    );
    check(
        "set button = true\nset request = 5\nset level(1) = 2\nstep\ncheck count = 7 and mode = On",
        "mode = On, count = 7, request = undef, word = \"\"",
    );
    check(
        "set button = true\nstep\npick x = 2\nstep\ncheck count = 2",
        "mode = On, count = 2, request = undef, word = \"\"",
    );
}

#[test]
fn failed_checks_have_locations() {
    check("step", "the script does not say what `button` is [button]");
    check(
        "set button = true\nstep 2",
        "the script does not say what `x` is [choose x in {1, 2, 3} with mode = On { count := x }]",
    );
    check(
        "check count + 1 = 2",
        "`count + 1 = 2` does not hold: `count` is 0 [count + 1 = 2]",
    );
    check(
        "set button = false\npick y = 1\nstep",
        "this step does not choose `y` [step]",
    );
    check("set level(1) = true", "expected Int, found Bool [true]");
    check("set level = 1", "`level` takes one argument, not 0 [level]");
    check(
        "set level(3) = 1",
        "`level` takes 1..2, not 3 [set level(3) = 1]",
    );
    check(
        "set count = 1",
        "`count` is not set by the environment [count]",
    );
    check(
        "set botton = true",
        "there is no function `botton` [botton]",
    );
    check(
        "check button",
        "`button` has a value only within a step [button]",
    );
    check("jump", "expected a line of a script, found `jump` [jump]");
    check("step 1 2", "expected nothing more, found `2` [2]");
    check(
        "step 1000001",
        "a line makes at most 1000000 steps [1000001]",
    );
    check("step -1", "expected nothing more, found `-` [-]");
    check("check #", "`#` has no meaning here [#]");
}

#[test]
fn rules_are_picked_by_number() {
    let begin = "set button = false\nset request = 9\nset level(1) = 1\nstep\n";
    let check = |rest: &str, expected: &str| check(&format!("{begin}{rest}"), expected);
    let done = |word: &str| format!("mode = Off, count = 10, request = undef, word = \"{word}\"");
    check("pick rule = 1\nstep\ncheck word = \"a|b\"", &done("a|b"));
    check(
        "pick rule = 2\nstep\ncheck word = \"c//d\" // so",
        &done("c//d"),
    );
    check(
        "pick rule = 2\nstep\ntable word | count\n\"c//d\" | 10\nend",
        &done("c//d"),
    );
    check(
        "step",
        "the script does not say what `one of the rules` is \
         [choose { word := \"a|b\" } or { word := \"c//d\" }]",
    );
    check(
        "pick rule = 3\nstep",
        "3 is not possible for `one of the rules` \
         [choose { word := \"a|b\" } or { word := \"c//d\" }]",
    );
}

#[test]
fn a_table_is_a_run() {
    check(
        "table\tmode | button | request
         Off | false |
         Off | true  | 4
         end
         set level(1) = 1
         step
         check count = 5",
        "mode = On, count = 5, request = undef, word = \"\"",
    );
    check(
        "table mode | button\nOff | true\nOff | \nend",
        "`mode = Off` does not hold: `mode` is On [Off]",
    );
    check(
        "table mode | button\nOff | true",
        "this table has no `end` []",
    );
    check("table mood\nOff\nend", "there is no function `mood` [mood]");
    check(
        "table mode\nOff | On\nend",
        "2 cells in a table of 1 columns [Off | On]",
    );
    check("table mode\n1\nend", "expected Mode, found a number [1]");
}
