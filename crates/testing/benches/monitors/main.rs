//! The costs of an event and of an instance in a monitor.
//!
//! ```text
//! cargo bench -p juror-testing --bench monitors [-- --quick] [TABLE...]
//! ```
//!
//! Events are numbers in memory; nothing is traced. The peer is handwritten code: a hash
//! map from the parameters to a byte, looked up and written at each event, in the same run
//! and over the same objects. All rows of a table alternate for several rounds, so that
//! load on the machine affects all of them; the figures are those of the best round.
//!
//! Events are bare numbers, without a history for reports. The rows *as juror check* have
//! everything that this command has: values, a thread, a location and a time, and a
//! history.
//!
//! The tables are `objects`, `parameters`, `guards`, `formula`, `demands` and `locks`; all
//! of them by default.
//!
//! The property: a closed object is not read. Each object is opened, read and closed in
//! turn, in an order that jumps over all objects.

mod iterators;
mod locks;
mod measuring;
mod objects;
mod properties;

use iterators::Iterators;
use measuring::{Effort, FULL, Measured, QUICK, heading, measure, row};
use objects::{ByHand, Checked, Watched, address, one, three};
use properties::{automaton, formula, guarded, nobody_reads, unrelated};
use std::process::ExitCode;

type Table = fn(&Effort) -> Result<(), String>;

const TABLES: [(&str, Table); 6] = [
    ("objects", by_objects),
    ("parameters", by_parameters),
    ("guards", by_guards),
    ("formula", by_formula),
    ("demands", by_demands),
    ("locks", locks::lock_order),
];

fn main() -> ExitCode {
    let has = |wanted| std::env::args().any(|argument| argument == wanted);
    let quick = has("--quick");
    if !quick && !has("--bench") {
        println!("Not run by cargo bench: nothing is measured.");
        return ExitCode::SUCCESS;
    }
    let effort = if quick { QUICK } else { FULL };
    let is_any_named = TABLES.iter().any(|(name, _)| has(name));
    let mut wanted = TABLES.iter().filter(|(name, _)| !is_any_named || has(name));
    match wanted.try_for_each(|(_, table)| table(&effort)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("monitors: {message}");
            ExitCode::FAILURE
        }
    }
}

fn by_objects(effort: &Effort) -> Result<(), String> {
    heading("No parameter, then one: by the number of instances");
    let mut nothing = ByHand::new(1, |_| 0_u64);
    let mut alone = Watched::new(automaton(&[])?, 1, one)?;
    let mut alone_formula = Watched::new(formula(&[], nobody_reads(1))?, 1, one)?;
    let rates = measure(effort, &mut [&mut nothing, &mut alone, &mut alone_formula])?;
    let [by_hand, automaton_rate, formula_rate] = rates;
    row(1, "by hand", by_hand, by_hand, None);
    row(1, "automaton, no parameter", automaton_rate, by_hand, None);
    row(1, "formula, no parameter", formula_rate, by_hand, None);
    for objects in [1, 1_000, 100_000, 1_000_000] {
        if objects > effort.objects_max {
            continue;
        }
        let mut by_hand = ByHand::new(objects, address);
        let mut states = Watched::new(automaton(&["f"])?, objects, one)?;
        let mut logic = Watched::new(formula(&["f"], nobody_reads(1))?, objects, one)?;
        let mut checked = Checked::new(automaton(&["f"])?, objects)?;
        let rates = measure(
            effort,
            &mut [&mut by_hand, &mut states, &mut logic, &mut checked],
        )?;
        row(objects, "by hand", rates[0], rates[0], None);
        row(
            objects,
            "automaton",
            rates[1],
            rates[0],
            states.bytes_each(),
        );
        row(objects, "formula", rates[2], rates[0], logic.bytes_each());
        row(
            objects,
            "automaton, as juror check",
            rates[3],
            rates[0],
            checked.bytes_each(),
        );
    }
    Ok(())
}

fn by_parameters(effort: &Effort) -> Result<(), String> {
    heading("Three parameters; two, whose bindings end and begin");
    for objects in [1_000, 100_000, 1_000_000] {
        if objects > effort.objects_max {
            continue;
        }
        let mut by_hand = ByHand::new(objects, three);
        let mut states = Watched::new(automaton(&["a", "b", "c"])?, objects, three)?;
        let mut logic = Watched::new(formula(&["a", "b", "c"], nobody_reads(1))?, objects, three)?;
        let mut iterators = Iterators::new(objects)?;
        let rates = measure(
            effort,
            &mut [&mut by_hand, &mut states, &mut logic, &mut iterators],
        )?;
        row(objects, "by hand, three", rates[0], rates[0], None);
        row(
            objects,
            "automaton, three",
            rates[1],
            rates[0],
            states.bytes_each(),
        );
        row(
            objects,
            "formula, three",
            rates[2],
            rates[0],
            logic.bytes_each(),
        );
        row(
            objects,
            "iterators, two",
            rates[3],
            rates[0],
            iterators.bytes_each(),
        );
    }
    Ok(())
}

fn by_guards(effort: &Effort) -> Result<(), String> {
    let objects = effort.objects_max.min(1_000);
    heading("One parameter: guards and variables");
    let mut by_hand = ByHand::new(objects, address);
    let mut plain = Watched::new(automaton(&["f"])?, objects, one)?;
    let mut guarded = Watched::new(guarded()?, objects, one)?;
    let rates = measure(effort, &mut [&mut by_hand, &mut plain, &mut guarded])?;
    row(objects, "by hand", rates[0], rates[0], None);
    row(objects, "plain", rates[1], rates[0], plain.bytes_each());
    row(
        objects,
        "guards and updates",
        rates[2],
        rates[0],
        guarded.bytes_each(),
    );
    Ok(())
}

fn by_formula(effort: &Effort) -> Result<(), String> {
    let objects = effort.objects_max.min(1_000);
    heading("One parameter: by the size of the formula");
    let mut by_hand = ByHand::new(objects, address);
    let mut small = Watched::new(formula(&["f"], nobody_reads(1))?, objects, one)?;
    let mut middle = Watched::new(formula(&["f"], nobody_reads(3))?, objects, one)?;
    let mut large = Watched::new(formula(&["f"], nobody_reads(5))?, objects, one)?;
    let rates = measure(
        effort,
        &mut [&mut by_hand, &mut small, &mut middle, &mut large],
    )?;
    row(objects, "by hand", rates[0], rates[0], None);
    row(objects, "one part", rates[1], rates[0], small.bytes_each());
    row(
        objects,
        "three parts",
        rates[2],
        rates[0],
        middle.bytes_each(),
    );
    row(
        objects,
        "five parts",
        rates[3],
        rates[0],
        large.bytes_each(),
    );
    Ok(())
}

/// Measures independent demands in one formula.
fn by_demands(effort: &Effort) -> Result<(), String> {
    heading("No parameter: by the number of unrelated demands");
    let mut by_hand = ByHand::new(1, |_| 0_u64);
    let mut alone = Watched::new(formula(&[], unrelated(1))?, 1, one)?;
    let mut four = Watched::new(formula(&[], unrelated(4))?, 1, one)?;
    let mut sixteen = Watched::new(formula(&[], unrelated(16))?, 1, one)?;
    let rates = measure(
        effort,
        &mut [&mut by_hand, &mut alone, &mut four, &mut sixteen],
    )?;
    row(1, "by hand", rates[0], rates[0], None);
    row(1, "one demand", rates[1], rates[0], None);
    row(1, "four demands", rates[2], rates[0], None);
    row(1, "sixteen demands", rates[3], rates[0], None);
    Ok(())
}
