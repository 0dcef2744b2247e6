//! Output at a terminal: colours, lines of its width, the pager, and the context of a stop.

use crate::support::at_terminal::{PROMPT, ask, prepared, quit};
use crate::support::{juror, program};
use juror_testing::Terminal;

/// The help of many commands: more than the screen has lines.
const LONG: &str = "apropos e";

/// juror at its prompt, with a pager.
fn paged_by(pager: &str) -> Terminal {
    let mut terminal = prepared("steps.c").env("JUROR_PAGER", pager).terminal();
    terminal.expect(PROMPT);
    terminal
}

/// The longest line, in characters.
fn longest(text: &str) -> usize {
    let lengths = text.lines().map(|line| line.trim_end().chars().count());
    lengths.max().unwrap_or(0)
}

#[test]
fn colours_leave_the_text_as_it_is() {
    let executable = program("steps.c").compile_plain();
    let commands = [
        "break factorial",
        "run",
        "list 1,30",
        "info locals",
        "bt",
        "disassemble/s main",
    ];
    let said = |color: &str, settings: &[&str]| {
        let lines = settings.iter().chain(&commands);
        let output = juror(&["run", "--batch", color])
            .args(lines.flat_map(|line| ["-e", line]))
            .args([&executable])
            .run();
        output.stdout
    };
    let plain = said("--color=never", &[]);
    assert!(!plain.contains('\u{1b}'), "{plain}");
    // Keywords are magenta, and so is nothing else.
    let (keyword, of_type) = ("\u{1b}[35mstatic", "\u{1b}[36mint");
    let colored = said("--color=always", &[]);
    assert!(colored.contains(keyword), "{colored}");
    assert!(colored.contains(of_type), "{colored}");
    let (_, assembly) = colored.rsplit_once("main\u{1b}[0m:").expect("instructions");
    assert!(assembly.contains(of_type), "{assembly}");
    let stripped = without_styles(&colored);
    assert_eq!(without_addresses(&stripped), without_addresses(&plain));
    let sources = said("--color=always", &["set style sources off"]);
    assert!(!sources.contains(keyword), "{sources}");
    assert!(sources.contains('\u{1b}'), "{sources}");
    let off = said("--color=always", &["set style enabled off"]);
    assert!(!off.contains('\u{1b}'), "{off}");
}

fn without_styles(text: &str) -> String {
    let mut shown = String::new();
    let mut parts = text.split('\u{1b}');
    shown.push_str(parts.next().unwrap_or_default());
    for part in parts {
        shown.push_str(part.split_once('m').map_or("", |it| it.1));
    }
    shown
}

/// Returns the lines without those that tell addresses, which differ from run to run.
fn without_addresses(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.contains("0x")).collect()
}

#[test]
fn long_output_goes_through_the_pager() {
    let mut terminal = paged_by("sed s/^/paged:/");
    let shown = ask(&mut terminal, LONG);
    assert!(shown.contains("paged:advance"), "{shown}");
    assert!(shown.contains("paged:Type help COMMAND"), "{shown}");
    assert!(!ask(&mut terminal, "print 1").contains("paged:"));
    for (setting, is_paged) in [
        ("set pagination off", false),
        ("set pagination on", true),
        ("set height 0", false),
        ("set height 1000", false),
        ("set height 10", true),
        ("set height auto", true),
    ] {
        ask(&mut terminal, setting);
        let shown = ask(&mut terminal, LONG);
        assert_eq!(shown.contains("paged:"), is_paged, "{setting}");
        assert!(shown.contains("Type help COMMAND"), "{shown}");
    }
    assert!(ask(&mut terminal, "show height").contains("height: auto"));
    // A stop is shown at once, and its program runs without a pager.
    ask(&mut terminal, "set height 4");
    ask(&mut terminal, "break factorial");
    let shown = ask(&mut terminal, "run");
    assert!(!shown.contains("paged:"), "{shown}");
    assert!(shown.contains("Breakpoint 1 in"), "{shown}");
    assert!(ask(&mut terminal, "list 1,30").contains("paged:"));
    ask(&mut terminal, "kill");
    quit(terminal);
}

#[test]
fn a_stop_leaves_the_lines_that_were_typed_ahead() {
    let mut terminal = paged_by("cat; read line < /dev/tty; echo \"read <$line>\"");
    ask(&mut terminal, "set height 4");
    ask(&mut terminal, "break factorial");
    terminal.type_keys("run\nprint 40 + 2\nprint 6 * 9\n");
    terminal.expect("Breakpoint 1 in");
    terminal.expect("$1 = 42");
    terminal.expect("$2 = 54");
    terminal.expect(PROMPT);
    terminal.type_line("kill");
    terminal.expect(PROMPT);
    quit(terminal);
}

#[test]
fn scripts_are_not_paged() {
    let executable = program("steps.c").compile_plain();
    let mut terminal = juror(&["run", "-e", LONG])
        .args([executable])
        .env("JUROR_PAGER", "sed s/^/paged:/")
        .terminal();
    let shown = terminal.expect(PROMPT);
    assert!(shown.contains("Type help COMMAND"), "{shown}");
    assert!(!shown.contains("paged:"), "{shown}");
    quit(terminal);
}

#[test]
fn leaving_the_pager_drops_the_rest() {
    let mut terminal = paged_by("head -n 3");
    let shown = ask(&mut terminal, LONG);
    assert_eq!(shown.trim().lines().count(), 3, "{shown}");
    // So a loop ends that would not.
    terminal.type_line("while 1");
    terminal.expect(">");
    terminal.type_line("print 7");
    terminal.expect(">");
    terminal.type_line("end");
    terminal.expect("= 7");
    terminal.expect(PROMPT);
    let shown = ask(&mut terminal, "print 40 + 2");
    let (number, value) = shown.trim().split_once(" = ").expect("a value");
    assert_eq!(value, "42");
    // What a pipe holds, and not all that a loop may print.
    let number: u32 = number.trim_start_matches('$').parse().expect("a number");
    assert!(number < 20_000, "{shown}");
    quit(terminal);
}

#[test]
fn the_keys_are_the_pagers() {
    let script = "echo now in the pager; read line < /dev/tty; echo \"read <$line>\"";
    let mut terminal = paged_by(script);
    ask(&mut terminal, "start");
    terminal.type_line(LONG);
    terminal.expect("now in the pager");
    terminal.type_line("hello");
    terminal.expect("read <hello>");
    terminal.expect(PROMPT);
    // Ctrl-C ends this pager, and neither juror nor the program; Ctrl-Z, too: nobody could let it
    // go on.
    for key in ['c', 'z'] {
        terminal.type_line(LONG);
        terminal.expect("now in the pager");
        terminal.type_control(key);
        terminal.expect(PROMPT);
        assert!(ask(&mut terminal, "info threads").contains("steps.c:19"));
    }
    assert!(ask(&mut terminal, "next").contains("steps.c:20"));
    quit(terminal);
}

#[test]
fn less_shows_the_first_page() {
    if std::process::Command::new("less")
        .arg("-V")
        .output()
        .is_err()
    {
        println!("skipped: less is not installed");
        return;
    }
    let mut terminal = paged_by("less -FRX -Pbelow$");
    terminal.type_line(LONG);
    let shown = terminal.expect("below");
    assert!(shown.contains("advance"), "{shown}");
    assert!(!shown.contains("Type help COMMAND"), "{shown}");
    terminal.type_keys("q");
    terminal.expect(PROMPT);
    assert!(ask(&mut terminal, "print 40 + 2").contains("= 42"));
    quit(terminal);
}

#[test]
fn without_a_pager_the_output_is_written_and_that_is_told_once() {
    for pager in [
        "/nowhere/pager -x",
        "/nowhere/pager --x=1",
        "false",
        "exit 3;",
    ] {
        let mut terminal = paged_by(pager);
        let shown = ask(&mut terminal, LONG);
        let told = format!("the pager {pager} cannot be run");
        assert!(shown.contains(&told), "{shown}");
        assert!(shown.contains("Type help COMMAND"), "{shown}");
        let shown = ask(&mut terminal, LONG);
        assert!(!shown.contains(&told), "{shown}");
        assert!(shown.contains("Type help COMMAND"), "{shown}");
        quit(terminal);
    }
}

#[test]
fn a_pager_that_reads_nothing_leaves_the_output_to_the_screen() {
    let mut terminal = paged_by("true");
    for _ in 0..2 {
        let shown = ask(&mut terminal, LONG);
        assert!(shown.contains("Type help COMMAND"), "{shown}");
        assert!(!shown.contains("cannot be run"), "{shown}");
    }
    quit(terminal);
}

#[test]
fn lines_fit_the_terminal() {
    let mut terminal = prepared("steps.c").terminal();
    terminal.expect(PROMPT);
    ask(
        &mut terminal,
        "break factorial if n == 2 && n < 1000 || n > 2000",
    );
    assert!(ask(&mut terminal, "show width").contains("width: auto"));
    let lines = [
        "run",
        "help set",
        "help",
        "list 1,30",
        "backtrace",
        "info breakpoints",
        "info",
        "info frame",
        "info line",
        "info monitors",
        "info nosuch",
        "info scope main",
        "info signals",
        "disassemble",
        "tbreak main",
    ];
    ask(&mut terminal, "run");
    ask(&mut terminal, "continue");
    for width in [40, 60] {
        terminal.resize(width, 200);
        for line in &lines[1..] {
            let shown = ask(&mut terminal, line);
            assert!(longest(&shown) <= usize::from(width), "{line}: {shown}");
        }
    }
    terminal.resize(40, 200);
    let shown = ask(&mut terminal, "list 24,26");
    assert!(shown.contains("\n           sum"), "{shown}");
    // The output of a command for the user stays as it is.
    let printed = ask(
        &mut terminal,
        "printf \"%s\\n\", \"one two three four five six seven eight nine\"",
    );
    assert!(printed.contains("six seven eight nine"), "{printed}");
    terminal.resize(120, 200);
    ask(&mut terminal, "set width 40");
    assert!(longest(&ask(&mut terminal, "info")) <= 40);
    for setting in ["set width 0", "set width 200"] {
        ask(&mut terminal, setting);
        assert!(longest(&ask(&mut terminal, "help set")) > 60, "{setting}");
    }
    ask(&mut terminal, "kill");
    quit(terminal);
}

#[test]
fn values_options_and_functions_of_the_stack_are_completed() {
    let mut terminal = prepared("steps.c").terminal();
    terminal.expect(PROMPT);
    ask(&mut terminal, "set context mon\t loc\t");
    assert!(ask(&mut terminal, "show context").contains("context: monitors locals"));
    ask(&mut terminal, "set context of\t");
    ask(&mut terminal, "set pagination of\t");
    assert!(ask(&mut terminal, "show pagination").contains("pagination: off"));
    ask(&mut terminal, "break factorial");
    ask(&mut terminal, "run");
    assert!(ask(&mut terminal, "frame funct\t ma\t").contains("main ("));
    assert!(ask(&mut terminal, "bt -f\t").contains("main ("));
    assert!(ask(&mut terminal, "print -pre\t 41 + 1").contains("= 42"));
    ask(&mut terminal, "kill");
    quit(terminal);
}

#[test]
fn a_stop_shows_its_context() {
    let mut terminal = prepared("steps.c").terminal();
    terminal.expect(PROMPT);
    assert!(ask(&mut terminal, "show context").contains("context: off"));
    let shown = ask(&mut terminal, "start");
    assert!(!shown.contains("Locals:"), "{shown}");
    ask(&mut terminal, "set context locals, source");
    let shown = ask(&mut terminal, "next");
    let (before, after) = shown.split_once("Locals:").expect("local variables");
    assert!(!before.contains("int main"), "{shown}");
    let (locals, source) = after.split_once("Source:").expect("source");
    assert!(locals.contains("sum = 0"), "{shown}");
    assert!(source.contains("int main(void)"), "{shown}");
    ask(&mut terminal, "set context registers backtrace monitors");
    assert!(ask(&mut terminal, "show context").contains("registers backtrace monitors"));
    let shown = ask(&mut terminal, "next");
    let (_, after) = shown.split_once("Registers:").expect("registers");
    assert!(after.contains("rip  0x"), "{shown}");
    assert!(
        after.contains("Backtrace:\n  #0  main ()") || after.contains("Backtrace:\r\n  #0"),
        "{shown}"
    );
    assert!(!shown.contains("Monitors:"), "{shown}");
    assert!(ask(&mut terminal, "set context stack").contains("there is no context `stack`"));
    ask(&mut terminal, "set context off");
    assert!(!ask(&mut terminal, "next").contains("Backtrace:"));
    ask(&mut terminal, "kill");
    quit(terminal);
}
