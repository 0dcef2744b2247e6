//! Features of the language that a random model has beside the usual ones.
//!
//! A model has few of them, so that most models remain small enough to be compared.

use super::writer::Random;

/// A feature: what is declared for it, what a process may do with it, and what stands
/// behind the processes.
#[derive(Debug, Clone, Copy)]
pub struct Extra {
    pub declared: &'static str,
    pub statements: &'static [&'static str],
    /// A statement that a process does at most once, at its end.
    pub last: &'static [&'static str],
    pub values: &'static [&'static str],
    pub conditions: &'static [&'static str],
    /// What stands before the body of a process.
    pub header: &'static [&'static str],
    pub local: &'static str,
}

const NONE: Extra = Extra {
    declared: "",
    statements: &[],
    last: &[],
    values: &[],
    conditions: &[],
    header: &[],
    local: "",
};

/// The atomic sequences of the extras that give a hidden variable a value and read it.
pub const HANDING_ON: &[&str] = &["atomic { h = x;", "atomic { hand?h;", "atomic { if :: h ="];

/// All that are drawn from.
pub const EXTRAS: &[Extra] = &[
    // Spin takes back a process that was not run, so each `run` here is done.
    Extra {
        last: &[
            "if :: x == 2 -> x = 0; l = run Q(l) :: else fi",
            "if :: x == 2 -> x = (run Q(0) + run Q(1)) % 3 :: else fi",
            "if :: x == 2 -> assert(run Q(1) != 99); x = 1 :: else fi",
            "if :: (run Q(0)) -> x = 1 :: y == 1 -> x = 2 fi",
            "if :: x == 1 -> printf(\"%d\", run Q(2)) :: else fi",
            "y = (run Q(x) > 1 && x == 2)",
            "x = (_nr_pr + run Q(run Q(1) % 2) + _nr_pr) % 3",
            "x = a[run Q(1) % 2]",
        ],
        ..NONE
    },
    // Where a receive and a `d_step` give one hidden variable values, Spin may keep states
    // that are not reached; such models are compared without hidden variables.
    Extra {
        declared: "hidden byte h, k;\n",
        statements: &[
            "h = y",
            "hand?h",
            "atomic { h = x; y = (h + 1) % 3 }",
            "d_step { h = l; x = h; k = 1; y = (h + k) % 3 }",
            "atomic { hand?h; x = h }",
            "atomic { if :: h = 1 :: h = x fi; x = h }",
        ],
        ..NONE
    },
    Extra {
        declared: "inline twice(p) { p = (p + 1) % 3; x = p }\ninline next(p) { byte t; t = p; return (t + 1) % 3 }\n",
        statements: &["twice(l)", "twice(y)", "y = next(x)", "l = next(y)"],
        ..NONE
    },
    Extra {
        local: "byte i;",
        statements: &[
            "select (i : 0 .. 2)",
            "select (l : 1 .. x)",
            "for (i : 0 .. 1) { a[i] = l }",
            "for (i in a) { x = a[i] }",
            "for (i : 1 .. y) { hand!i }",
        ],
        ..NONE
    },
    Extra {
        values: &[
            "(x == 1 -> y : l)",
            "_pid % 3",
            "_nr_pr % 3",
            "(x ^ 1) % 3",
            "(y << 1) % 3",
            "(x & y)",
        ],
        conditions: &[
            "(x == y -> l : 1)",
            "_pid == 1",
            "_nr_pr > 1",
            "(x | y) == 1",
            "!(x || l)",
            "x == 1 && y > 0",
        ],
        ..NONE
    },
    Extra {
        declared: "mtype = {red, green, blue}\nmtype m = red;\nchan lamps = [1] of {mtype, byte};\n",
        statements: &[
            "m = green",
            "m = blue",
            "lamps!red(x)",
            "lamps!m,1",
            "lamps?green(y)",
            "lamps?m,l",
            "lamps?eval(m),_",
        ],
        conditions: &["m == red", "m != blue", "lamps?[red]", "full(lamps)"],
        ..NONE
    },
    Extra {
        declared: "unsigned u : 2; short s; bool b; int v = -1;\n",
        statements: &[
            "u = x",
            "s = x - 2",
            "b = !b",
            "v = -v",
            "s = s / 2",
            "u = (u + 1) % 4",
        ],
        conditions: &["s < 0", "b", "u > 1", "v == -1", "s % 2 == -1"],
        values: &["u % 3", "(s + 2) % 3"],
        ..NONE
    },
    Extra {
        local: "chan own = [1] of {byte};",
        statements: &["own!x", "own?l", "own?<y>"],
        conditions: &["empty(own)", "own?[1]"],
        ..NONE
    },
    Extra {
        declared: "chan one = [1] of {byte}; chan two = [0] of {byte}; chan w = one; chan pass = [1] of {chan};\n",
        statements: &[
            "w = two", "w = one", "w!x", "w?y", "one?l", "two?l", "pass!w", "pass?w", "two!1",
        ],
        ..NONE
    },
    Extra {
        declared: "record rs[2]; chan whole = [1] of {record, byte};\n",
        statements: &[
            "rs[x % 2].f = y",
            "whole!r,1",
            "whole?r,x",
            "rs[1].f = rs[0].f",
            "whole!rs[l % 2],y",
        ],
        conditions: &["rs[0].f < rs[1].f"],
        ..NONE
    },
    Extra {
        header: &[" provided (x != 2)", " provided (y < 2 || _pid == 0)", ""],
        ..NONE
    },
    Extra {
        header: &[" priority 2", " priority 3", ""],
        conditions: &["_priority == 2", "get_priority(_pid) > 1"],
        ..NONE
    },
    Extra {
        conditions: &["P0@L0", "!P0@L0", "P0[0]@L0"],
        ..NONE
    },
    Extra {
        statements: &[
            "assert(x < 200)",
            "printf(\"%d %d\\n\", x, l)",
            "a[x % 2]++",
            "l--; l++",
            "x++; x = x % 3",
        ],
        ..NONE
    },
    Extra {
        statements: &[
            "atomic { x = 1; if :: y == 1 -> skip :: y == 2 -> x = 2 fi; hand!x }",
            "atomic { hand?l; hand!l }",
            "d_step { hand?x; x = (x + 1) % 3 }",
            "do :: x == 1 -> break :: x != 1 -> x = 1 od",
            "{ hand!1; y = 1 } unless { x == 2 -> y = 2 }",
            "atomic { { x = 1; hand?y } unless { y == 2 } }",
            "{ { x = 1; hand?y } unless { y == 2 } } unless { l == 1 -> l = 0 }",
        ],
        ..NONE
    },
];

/// Events of which the traces of random models are made.
const SENT: &[&str] = &[
    "buffer!0",
    "buffer!1,_",
    "buffer!_,1",
    "buffer!2,0",
    "buffer!_",
];
const TAKEN: &[&str] = &[
    "buffer?0",
    "buffer?1,_",
    "buffer?_,1",
    "buffer?2,0",
    "buffer?_",
    "hand?0",
    "hand?1",
    "hand?_",
];

/// A trace over what is sent to the buffer, or over what is received.
///
/// Spin compares the last message of a channel after `!!` and the first before `??`, and
/// has events of a rendezvous that nobody answers; juror has not. Models with a trace
/// do without.
pub fn trace(random: &mut Random, text: &str) -> String {
    let is_sent = random.below(2) == 0;
    let events = if is_sent { SENT } else { TAKEN };
    let mut body = String::new();
    for number in 0..1 + random.below(3) {
        if number > 0 {
            body += "; ";
        }
        body += &match random.below(4) {
            0 => random.of(events).to_owned(),
            1 => format!("if :: {} :: {} fi", random.of(events), random.of(events)),
            2 => format!(
                "L: do :: {} :: {} -> {} od",
                random.of(events),
                random.of(events),
                random.of(events)
            ),
            _ => format!(
                "do :: {} :: {} -> break od",
                random.of(events),
                random.of(events)
            ),
        };
        if body.contains("L:") {
            break;
        }
    }
    let word = random.of(&["trace", "trace", "notrace"]);
    let plain = text
        .replace("buffer!!", "buffer!")
        .replace("buffer??", "buffer?");
    format!("{plain}{word} {{ {body} }}\n")
}
