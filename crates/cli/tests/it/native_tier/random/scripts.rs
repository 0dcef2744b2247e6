//! Scripts for `played.cpp`.

use super::Random;

/// Returns a script of about so many calls.
pub fn script(random: &mut Random, calls: usize) -> String {
    let mut script = String::new();
    // The closing braces that are due, and after how many calls.
    let mut open: Vec<(char, usize)> = Vec::new();
    let mut made = 0;
    while made < calls {
        made += 1;
        let small = |random: &mut Random| random.of(&[0, 1, 2, 3, 3, 2, 1, 5, -1, 7]);
        match random.below(100) {
            0..72 => call(random, &mut script),
            72..78 => {
                let word = random.of(&['j', 'h']);
                script.push_str(&format!("{word}{}", small(random)));
            }
            _ if open.len() > 4 => call(random, &mut script),
            _ => {
                let (start, end) = random.of(&[
                    ('(', ')'),
                    ('(', ')'),
                    ('<', '>'),
                    ('<', '>'),
                    ('{', '}'),
                    ('[', ']'),
                ]);
                script.push(start);
                if start == '(' || start == '<' {
                    script.push_str(&random.below(6).to_string());
                }
                let inside = 1 + random.below(calls / 3);
                let innermost = open.last().map_or(calls, |(_, due)| *due);
                open.push((end, innermost.min(made + inside)));
            }
        }
        while let Some((end, _)) = open.pop_if(|(_, due)| *due <= made) {
            script.push(end);
        }
    }
    while let Some((end, _)) = open.pop() {
        script.push(end);
    }
    script
}

fn call(random: &mut Random, script: &mut String) {
    let small = |random: &mut Random| random.of(&[0, 1, 2, 3, 3, 2, 1, 5, -1, 7]);
    let (one, other) = (small(random), small(random));
    let word = match random.of(&b"aaaafttwnmlzppppps".map(char::from)) {
        'z' => "z".to_owned(),
        'l' => format!("l{}", random.below(6) as i32 - 1),
        's' => format!("s{one}"),
        'p' => format!("p{},{other}", random.below(7)),
        letter => format!("{letter}{one},{other}"),
    };
    script.push_str(&word);
}
