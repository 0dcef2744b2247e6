//! `watch`, `change`, `rwatch`, `awatch`.

use crate::commands::condition;
use crate::inspect::expressions;
use crate::run::processes::watching;
use crate::session::Session;
use crate::state::values::convenience;
use juror_arch::abi::RED_ZONE;
use juror_arch::dwarf;
use juror_fault::CommandError;
use juror_instrument::watched::{Dependence, Extent, Reading, WatchedExpression};
use juror_points::location_spec;
use juror_points::point::{Fate, Point, PointKind};
use juror_points::software_watchpoint::Followed;
use juror_points::watchpoints::{Home, WatchKind, Watchpoint, start_of};
use juror_program::program::Program;
use juror_program::scope::FrameScope;
use juror_program::stack::frames::{Frame, returns_to};
use juror_values::typed::VALUE_SIZE_MAX;
use juror_view::changes::WatchExtent;
use juror_view::{Outcome, SetPointView};

/// The parsed argument.
struct Written<'a> {
    kind: WatchKind,
    only_place: bool,
    /// The memory is watched as long as the call that it belongs to.
    of_call: bool,
    expression: &'a str,
    condition: Option<&'a str>,
}

impl<'a> Written<'a> {
    fn parse(text: &'a str, kind: WatchKind) -> Result<Written<'a>, CommandError> {
        let (mut rest, condition) = location_spec::split_condition(text);
        let mut written = Written {
            kind,
            only_place: false,
            of_call: false,
            expression: "",
            condition,
        };
        loop {
            rest = rest.trim();
            let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            match word {
                "-l" | "-location" => written.only_place = true,
                "-call" => written.of_call = true,
                "-change" if kind == WatchKind::Write => written.kind = WatchKind::Change,
                _ => break,
            }
            rest = after;
        }
        if rest.is_empty() || condition == Some("") {
            return Err(CommandError::with_help(
                "`watch` needs an expression",
                format!("for example: {} count, {0} count if i > 3", kind.word()),
            ));
        }
        if written.of_call && !written.only_place {
            return Err(CommandError::with_help(
                "`-call` is an option of `-location`",
                "without -location, a local variable is watched until its call returns anyway",
            ));
        }
        written.expression = rest;
        Ok(written)
    }
}

/// `watch`, `change`, `rwatch`, `awatch`.
pub(crate) fn set_watchpoint(
    session: &mut Session,
    rest: &str,
    kind: WatchKind,
) -> Result<Outcome, CommandError> {
    let written = Written::parse(rest, kind)?;
    watch(session, rest, &written).map(Outcome::from)
}

/// Watches an expression, by values.
pub(crate) fn watch_expression(
    session: &mut Session,
    expression: &str,
    kind: WatchKind,
    extent: WatchExtent,
    condition: Option<&str>,
) -> Result<SetPointView, CommandError> {
    let written = Written {
        kind,
        only_place: extent != WatchExtent::Expression,
        of_call: extent == WatchExtent::LocationOfCall,
        expression,
        condition,
    };
    watch(session, expression, &written)
}

fn watch(
    session: &mut Session,
    rest: &str,
    written: &Written<'_>,
) -> Result<SetPointView, CommandError> {
    let kind = written.kind;
    let expression = expressions::read(session, written.expression)?;
    let condition = written
        .condition
        .map(|it| condition::condition(session, it))
        .transpose()?;
    if let Some(condition) = &condition {
        condition::check_condition(session, PointKind::Watchpoint, condition)?;
    }
    let frames = if session.has_begun() {
        session.frames()?.to_vec()
    } else {
        Vec::new()
    };
    let level = session.processes.selection.level;
    let values = |name: &str| convenience(&session.user.values, name);
    let scope = FrameScope {
        program: session.running()?,
        frames: &frames,
        level,
        convenience: &values,
    };
    // Reads on the way to a value do not matter, only stores: they change the meaning of the
    // expression.
    let is_place = written.only_place;
    let reads = matches!(kind, WatchKind::Read | WatchKind::Access);
    let extent = match (is_place, reads) {
        (true, _) => Extent::Location,
        (false, true) => Extent::Value,
        (false, false) => Extent::Everything,
    };
    let (expression, seen, dependence) = WatchedExpression::new(expression, scope, extent);
    let is_followed = dependence.moves && !is_place;
    if let Err(message) = &seen.value
        && !is_followed
        && !expression.may_be_read_later(&seen)
    {
        return Err(CommandError::new(message.clone()));
    }
    if is_followed {
        check_size(&seen)?
    } else {
        check_ranges(&seen, dependence, written)?
    }
    let home = match (is_place, written.of_call) {
        (false, _) if dependence.is_local => Some(home_of_frame(session, level)?),
        (true, true) => match seen.ranges.first() {
            Some(range) => home_of_memory(session, &frames, range.start)?,
            None => None,
        },
        _ => None,
    };
    let value_error = seen.value.as_ref().err().filter(|_| !is_followed).cloned();
    let number = session.points.breakpoints.take_number();
    let option = match (is_place, written.of_call) {
        (true, true) => "-location -call ",
        (true, false) => "-location ",
        (false, _) => "",
    };
    let watchpoint = Watchpoint {
        point: Point {
            owner: session.points.owner,
            ..Point::new(number, condition, Fate::Keep)
        },
        text: format!("{option}{}", written.expression),
        kind,
        home,
        is_place,
        expression,
        seen,
        id: None,
        followed: is_followed.then(Followed::default),
    };
    let process = &mut *session.processes;
    let Some(program) = &mut process.program else {
        return Err(crate::state::control::not_running());
    };
    process.watchpoints.add(program, watchpoint)?;
    let views = watching::watchpoint_views(session);
    let point = views.into_iter().find(|view| view.number == Some(number));
    Ok(SetPointView {
        point: point.unwrap_or_default(),
        written: rest.to_owned(),
        value_error,
        ..SetPointView::default()
    })
}

/// Returns the call of the selected thread whose frame has an address; none for other memory.
pub(crate) fn home_of_memory(
    session: &mut Session,
    frames: &[Frame],
    address: u64,
) -> Result<Option<Home>, CommandError> {
    let program = session.running()?;
    match owner_of(program, frames, address) {
        Some(level) => home_of_frame(session, level).map(Some),
        None => Ok(None),
    }
}

/// Returns the level of the frame that has an address.
fn owner_of(program: &Program, frames: &[Frame], address: u64) -> Option<usize> {
    let mut begin = frames.first()?.registers.get(dwarf::STACK_POINTER)?;
    // The kernel leaves the red zone of an interrupted function alone.
    let mut has_red_zone = true;
    let mut inner = None;
    for (level, frame) in frames.iter().enumerate() {
        if frame.is_inlined() || frame.is_tail_call() {
            continue;
        }
        let end = frame.cfa?;
        if has_red_zone {
            begin = begin.wrapping_sub(RED_ZONE);
        }
        if (begin..end).contains(&address) {
            // The arguments that do not fit into registers are in the frame of the caller.
            let of_inner = inner.filter(|&(_, inner)| has_variable_at(program, inner, address));
            return Some(of_inner.map_or(level, |(level, _)| level));
        }
        begin = end;
        has_red_zone = frame.is_of_signal;
        inner = Some((level, frame));
    }
    None
}

/// Returns whether an address is in a variable of a frame.
fn has_variable_at(program: &Program, frame: &Frame, address: u64) -> bool {
    let variables = program.variables(frame);
    variables.iter().any(|(variable, _)| {
        let value = program.value_of(frame, variable);
        let begin = value.address();
        let end = begin.zip(value.r#type.size());
        let end = end.and_then(|(begin, size)| begin.checked_add(size));
        begin
            .zip(end)
            .is_some_and(|(begin, end)| (begin..end).contains(&address))
    })
}

/// Returns the call of a frame of the selected thread.
fn home_of_frame(session: &mut Session, level: usize) -> Result<Home, CommandError> {
    let thread = session.thread()?;
    let frames = session.frames()?;
    let frame = frames
        .get(level)
        .ok_or_else(|| CommandError::new("the thread has no stack"))?;
    if frame.is_tail_call() {
        return Err(CommandError::with_help(
            "this call was left by a jump: its variables are gone",
            "watch -location keeps watching the memory",
        ));
    }
    let caller = returns_to(frames, level);
    let cfa = frame.cfa.ok_or_else(|| {
        CommandError::with_help(
            "the end of this frame is unknown, so its return cannot be detected",
            "watch -location keeps watching the memory",
        )
    })?;
    Ok(Home {
        thread,
        cfa,
        back: caller.map(|caller| caller.pc),
        function: frame.name.clone().unwrap_or_else(|| "??".to_owned()),
        start: start_of(frame),
        is_dropped: false,
    })
}

/// Refuses expressions without memory to watch.
fn check_ranges(
    seen: &Reading,
    dependence: Dependence,
    written: &Written<'_>,
) -> Result<(), CommandError> {
    let expression = written.expression;
    if dependence.reads_registers && dependence.moves {
        return Err(CommandError::with_help(
            format!("`{expression}` is in a register here, and has no address"),
            format!(
                "without -location it is watched wherever it is: {} {expression}",
                written.kind.word()
            ),
        ));
    }
    if dependence.reads_registers {
        return Err(CommandError::with_help(
            format!("`{expression}` is in registers of another call"),
            "select the frame of that call with up, and watch the variable there",
        ));
    }
    if seen.ranges.is_empty() && dependence.names_registers {
        return Err(CommandError::with_help(
            format!(
                "`{expression}` is not a variable: a register holds different values all the time"
            ),
            "watch the variable that is in the register; stepi shows the effect of an instruction",
        ));
    }
    if seen.ranges.is_empty() {
        return Err(CommandError::with_help(
            format!("`{expression}` is a constant: it reads no memory"),
            "for an address, write *(int *)0x601040",
        ));
    }
    check_size(seen)
}

/// Refuses values that are too long.
fn check_size(seen: &Reading) -> Result<(), CommandError> {
    let length: u64 = seen.ranges.iter().map(|it| it.end - it.start).sum();
    if length > VALUE_SIZE_MAX {
        Err(CommandError::new(format!(
            "{length} bytes are too many to watch; the limit is {VALUE_SIZE_MAX}"
        )))
    } else {
        Ok(())
    }
}
