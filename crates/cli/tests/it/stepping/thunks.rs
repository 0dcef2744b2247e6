//! `step` enters the function that a call reaches by way of a small function of the compiler.

use crate::support::dialog::dialog;
use juror_testing::{Build, Compiler, Fixture, Language, Optimization};

/// A virtual call through the second base, and one whose result is moved, too.
const PLUG: &str = "
struct Source { virtual int read() = 0; virtual Source *self() { return this; } int opened = 1; };
struct Sink { virtual int write(int value) = 0; virtual Sink *same() { return this; } int written = 0; };
struct Pipe : Source, Sink {
    int last = 0;
    int read() override { return last; }
    int write(int value) override
    {
        last = value;
        return ++written;
    }
    Pipe *same() override
    {
        last++;
        return this;
    }
};
static int fill(Sink *sink, int value)
{
    int n = sink->write(value);
    Sink *same = sink->same();
    return n + (same == sink);
}
int main()
{
    Pipe pipe;
    int n = 0;
    for (int i = 0; i < 3; i++)
        n += fill(&pipe, 10 * i);
    return n == 0;
}
";

#[test]
fn a_step_passes_the_thunk_of_a_virtual_function() {
    let mut builds = Build::all_of(Language::Cpp);
    builds.retain(|build| build.pie && build.optimization == Optimization::None);
    for build in builds {
        let executable = Fixture::cpp("plug", PLUG).compile(&build);
        let commands = [
            "break fill(Sink*, int)",
            "run",
            "step",
            "print value",
            "print last",
            "finish",
            "next",
            "step",
            "print last",
            "finish",
            "kill",
        ];
        let answers = dialog(&executable, &commands);
        for (at, expected) in [
            (2, "Pipe::write (this="),
            (3, "0"),
            (5, "(int) 1"),
            (7, "Pipe::same (this="),
            (8, "0"),
            (9, "Pipe::same returned"),
        ] {
            let answer = &answers[at];
            assert!(
                answer.contains(expected),
                "{build}, {}: {answer}",
                commands[at]
            );
        }
    }
}

const INDIRECT: &str = "
int twice(int n)
{
    return n * 2;
}
int (*volatile chosen)(int) = twice;
int main(void)
{
    int n = 3;
    n = chosen(n);
    return n != 6;
}
";

#[test]
fn a_step_passes_a_retpoline() {
    let mut builds = Build::all_of(Language::C);
    builds.retain(|build| build.pie && build.optimization == Optimization::None);
    for build in builds {
        let option = match build.compiler {
            Compiler::Gcc => "-mindirect-branch=thunk",
            _ => "-mretpoline",
        };
        let fixture = Fixture::c("retpoline", INDIRECT).argument(option);
        let commands = ["break 10", "run", "step", "print n", "finish", "kill"];
        let answers = dialog(&fixture.compile(&build), &commands);
        for (at, expected) in [(2, "twice (n=3)"), (3, "3"), (4, "(int) 6")] {
            let answer = &answers[at];
            assert!(
                answer.contains(expected),
                "{build}, {}: {answer}",
                commands[at]
            );
        }
    }
}
