//! Commands about signals and about what the program asks of the kernel.

use super::{Command, Completes, Entry};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    command: Command::Handle,
    name: "handle",
    aliases: &[],
    summary: "say what is done about a signal",
    examples: &[
        (
            "handle SIGUSR1 nostop",
            "tell when it comes, but let the program run on",
        ),
        (
            "handle SIGUSR1 nostop noprint",
            "the program gets it without a word",
        ),
        ("handle SIGALRM SIGVTALRM stop", "stop when one comes"),
        ("handle SIGPIPE nopass", "the program never sees it"),
        ("handle all nostop", "all but SIGINT and SIGTRAP"),
    ],
    details: "Actions: stop, nostop, print, noprint, pass, nopass (also ignore and noignore). \
              To stop means to print. A signal that will end the program stops it unless you \
              said nostop. Ctrl-C is not passed to the program while SIGINT stops.",
    repeats: false,
    completes: Completes::Signals,
}];
