//! `juror inevitable`: the last moment at which another order of the threads avoids a failure.

use crate::arguments;
use crate::driver::Observer;
use crate::exit;
use crate::explore::{load, refused, runner_of, what_happens};
use crate::output::Output;
use juror_explore::{Decided, Inevitable, Offered, RunFile, inevitable};
use std::io::{self, Write};

/// Runs `juror inevitable`. Returns the exit status.
pub fn run(arguments: &arguments::Inevitable) -> anyhow::Result<u8> {
    let mut output = Output::open(arguments.messages.color, None, false)?;
    let file = RunFile::read(&arguments.file)?;
    let properties = match load(file.properties(), &mut output) {
        Ok(properties) => properties,
        Err(error) => return refused(error, &mut output),
    };
    let runner = runner_of(&file, properties);
    let mut begin = |number: u32, of: u32| {
        output.progress("trying moments", number.into(), of.into());
    };
    let found = match inevitable(&runner, &file, arguments.orders, &mut begin) {
        Ok(found) => found,
        Err(error) => return refused(error, &mut output),
    };
    let mut page = Vec::new();
    show(&mut page, &found)?;
    output.say(&String::from_utf8_lossy(&page))?;
    Ok(exit::HOLDS)
}

fn show(page: &mut dyn Write, found: &Inevitable) -> io::Result<()> {
    let Inevitable {
        decisions,
        last,
        avoiding,
        orders,
        choice,
    } = found;
    let Some(last) = last else {
        return writeln!(
            page,
            "the failure was inevitable from the start: it came in each of {orders} orders"
        );
    };
    let number = last + 1;
    writeln!(
        page,
        "decision {number} of {decisions} made the failure inevitable"
    )?;
    if let Some(Decided { taken, others }) = choice {
        if let Some(taken) = taken {
            writeln!(page, "  the run    {}", words(taken))?;
        }
        for other in others {
            writeln!(page, "  or else    {}", words(other))?;
        }
    }
    writeln!(
        page,
        "before it {avoiding} of {orders} orders avoid the failure, after it none of {orders}"
    )
}

fn words(offered: &Offered) -> String {
    let begins = offered.place.function.is_none();
    format!(
        "{} {}",
        offered.place.words(),
        what_happens(offered.kind, begins)
    )
}
