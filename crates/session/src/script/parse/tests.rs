use super::*;

/// The lists of the prompt.
fn kind_of(line: &str) -> Kind {
    match line.trim() {
        "define" => Kind::Line,
        line if line.starts_with("define") || line.starts_with("commands") => Kind::List,
        line if line.starts_with("document") => Kind::Text,
        line => structure_of(line),
    }
}

fn words() -> Words {
    Words {
        kind_of,
        ..Words::default()
    }
}

fn block(text: &str) -> Rc<Block> {
    match parse_file(text, words()) {
        Ok(block) => block,
        Err((number, error)) => panic!("line {number}: {}", error.message),
    }
}

fn steps(text: &str) -> Vec<Step> {
    block(text).steps.clone()
}

const LINE: Step = Step::Line;

fn test(otherwise: usize) -> Step {
    Step::Test { otherwise }
}

#[test]
fn an_if_leads_to_one_of_its_branches() {
    assert_eq!(
        steps("a\nif x\nb\nend\nc"),
        [LINE, test(4), LINE, Step::Go(4), LINE]
    );
    assert_eq!(
        steps("if x\nb\nelse\nc\nend"),
        [test(3), LINE, Step::Go(5), LINE, Step::Go(5)]
    );
}

#[test]
fn a_loop_leads_back_and_is_left() {
    let text = "while x\nif y\nloop_break\nend\nloop_continue\nend\nc";
    let expected = [
        test(6),
        test(4),
        Step::Go(6),
        Step::Go(4),
        Step::Go(0),
        Step::Go(0),
        LINE,
    ];
    assert_eq!(steps(text), expected);
    assert!(block(text).has_loop);
}

#[test]
fn lists_inside_are_kept_as_they_stand() {
    let text = "commands 1\nif x\nprint x\nelse\nwhile y\nloop_break\nend\nend\nend\nrun";
    assert_eq!(steps(text), [LINE; 10]);
    assert!(!block(text).has_loop);
    // Only `end` has a meaning in a text.
    let text = "document f\nif you wish\nwhile\nelse\nend\nrun";
    assert_eq!(steps(text), [LINE; 6]);
    // Without a name, `define` lists the commands.
    assert_eq!(steps("define\nrun"), [LINE; 2]);
}

#[test]
fn lines_keep_their_numbers() {
    assert_eq!(block("# one\n\na\n  if x \n b\n end").numbers, [3, 4, 5, 6]);
}

#[test]
fn what_has_no_place_is_refused_at_its_line() {
    for (text, number, expected) in [
        ("a\nelse\nb", 2, "`else` without `if`"),
        ("if x\nelse\nelse\nend", 3, "`else` without `if`"),
        ("while x\nelse\nend", 2, "`else` without `if`"),
        (
            "if x\nloop_break\nend",
            2,
            "`loop_break` outside of `while`",
        ),
        ("loop_continue", 1, "`loop_continue` outside of `while`"),
        ("a\nif\nend", 2, "`if` needs a condition"),
        ("while  \nend", 1, "`while` needs a condition"),
        ("a\nend", 2, "`end` without `commands`"),
        (
            "if x\nend\nwhile y\nif z\nend",
            3,
            "`end` is missing: `while y` begins a block",
        ),
        (
            "define f\nif x\nend",
            1,
            "`end` is missing: `define f` begins a block",
        ),
        ("define f\nelse\nend", 2, "`else` without `if`"),
    ] {
        let (found, error) = parse_file(text, words()).expect_err(text);
        assert_eq!(
            (found, error.message.as_str()),
            (number, expected),
            "{text}"
        );
    }
}

#[test]
fn a_block_that_is_typed_ends_with_what_opened_it() {
    let mut parser = Parser::default();
    for (line, expected, depth) in [
        ("if x", Taken::More, 1),
        ("while y", Taken::More, 2),
        ("print y", Taken::More, 2),
        ("end", Taken::More, 1),
        ("end", Taken::Whole, 0),
    ] {
        assert_eq!(parser.take(line), Ok(expected), "{line}");
        assert_eq!(parser.depth(), depth, "{line}");
    }
    let mut parser = Parser::of_list(words());
    assert_eq!(parser.take("silent"), Ok(Taken::More));
    assert!(parser.take("else").is_err());
    assert_eq!(parser.take("if x"), Ok(Taken::More));
    assert_eq!(parser.take("end"), Ok(Taken::More));
    assert_eq!(parser.take("end"), Ok(Taken::Whole));
    assert!(parser.is_malformed);
}

#[test]
fn deep_nesting_needs_no_stack() {
    let depth = 200_000;
    let text = "if x\n".repeat(depth) + &"end\n".repeat(depth);
    assert_eq!(block(&text).steps[0], test(2 * depth));
}
