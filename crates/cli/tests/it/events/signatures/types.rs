//! The types of random parameters and results of C and C++, and the values that are passed.

use super::Random;

/// A number, pointer or truth value in an argument or result.
#[derive(Debug, Clone)]
pub struct Leaf {
    /// How it is reached from the name of the parameter.
    pub path: String,
    pub kind: LeafKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafKind {
    Integer {
        of: &'static str,
        bytes: u32,
        is_signed: bool,
    },
    Bool,
    Float,
    Double,
    /// The address of a `long`, which is read.
    Pointer,
    /// What no event reads: it only takes its place.
    Opaque(&'static str),
}

/// A value of a leaf.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LeafValue {
    Integer(i128),
    Bool(bool),
    Float(f64),
}

/// The type of a parameter or result.
#[derive(Debug, Clone)]
pub struct Shape {
    /// How the type is written.
    pub name: String,
    /// What has to be declared before.
    pub declaration: String,
    pub leaves: Vec<Leaf>,
    /// A reference of C++, which binds to a variable of the type without `&`.
    pub is_reference: bool,
}

const INTEGERS: &[(&str, u32, bool)] = &[
    ("char", 1, true),
    ("signed char", 1, true),
    ("unsigned char", 1, false),
    ("short", 2, true),
    ("unsigned short", 2, false),
    ("int", 4, true),
    ("unsigned", 4, false),
    ("long", 8, true),
    ("unsigned long", 8, false),
];

impl LeafKind {
    /// How the type is written.
    pub fn name(self, is_cpp: bool) -> &'static str {
        match self {
            LeafKind::Integer { of, .. } => of,
            LeafKind::Bool if is_cpp => "bool",
            LeafKind::Bool => "_Bool",
            LeafKind::Float => "float",
            LeafKind::Double => "double",
            LeafKind::Pointer => "long *",
            LeafKind::Opaque(of) => of,
        }
    }

    fn scalar(random: &mut Random) -> LeafKind {
        match random.below(10) {
            0..=4 => {
                let (of, bytes, is_signed) = INTEGERS[random.below(INTEGERS.len())];
                LeafKind::Integer {
                    of,
                    bytes,
                    is_signed,
                }
            }
            5 => LeafKind::Bool,
            6 | 7 => LeafKind::Float,
            8 => LeafKind::Double,
            _ => LeafKind::Pointer,
        }
    }

    /// A value that registers do not have by accident.
    pub fn value(self, random: &mut Random) -> LeafValue {
        let bits = random.next();
        match self {
            LeafKind::Integer {
                bytes, is_signed, ..
            } => {
                let unused = 64 - bytes * 8;
                LeafValue::Integer(match is_signed {
                    true => i128::from((bits << unused) as i64 >> unused),
                    false => i128::from(bits << unused >> unused),
                })
            }
            LeafKind::Bool => LeafValue::Bool(bits & 1 == 1),
            LeafKind::Float | LeafKind::Double => {
                LeafValue::Float((bits % 4_000_000) as f64 * 0.25 - 500_000.0)
            }
            LeafKind::Pointer => LeafValue::Integer(i128::from((bits >> 8) as i64)),
            LeafKind::Opaque(_) => LeafValue::Integer(i128::from(bits % 100)),
        }
    }
}

impl LeafValue {
    /// How properties write it.
    pub fn in_property(self) -> String {
        match self {
            LeafValue::Integer(value) => value.to_string(),
            LeafValue::Bool(value) => value.to_string(),
            LeafValue::Float(value) => format!("{value:?}"),
        }
    }

    /// How C writes it, as a value that the compiler does not know.
    pub fn in_c(self, kind: LeafKind, is_known: bool) -> String {
        let unknown = if is_known { "" } else { " + vi" };
        match (self, kind) {
            (LeafValue::Integer(value), LeafKind::Pointer) => format!("hold({value}L{unknown})"),
            (LeafValue::Integer(value), LeafKind::Opaque("decltype(nullptr)")) => {
                let _ = value;
                "nullptr".to_owned()
            }
            (LeafValue::Integer(value), LeafKind::Integer { of, is_signed, .. }) => {
                // The smallest number is no literal.
                let text = match is_signed {
                    true if value == i128::from(i64::MIN) => {
                        "(-9223372036854775807L - 1)".to_owned()
                    }
                    true => format!("{value}L"),
                    false => format!("{value}UL"),
                };
                format!("({of})({text}{unknown})")
            }
            (LeafValue::Integer(value), _) => format!("({value}{unknown})"),
            (LeafValue::Bool(value), _) => format!("({}{unknown} != 0)", i32::from(value)),
            (LeafValue::Float(value), LeafKind::Float) => {
                let unknown = if is_known { "" } else { " + (float)vd" };
                format!("({value:?}f{unknown})")
            }
            (LeafValue::Float(value), _) => {
                let unknown = if is_known { "" } else { " + vd" };
                format!("({value:?}{unknown})")
            }
        }
    }
}

impl Shape {
    fn of_leaf(kind: LeafKind, is_cpp: bool) -> Shape {
        let path = match kind {
            LeafKind::Pointer => "*",
            _ => "",
        };
        Shape {
            name: kind.name(is_cpp).to_owned(),
            declaration: String::new(),
            leaves: vec![Leaf {
                path: path.to_owned(),
                kind,
            }],
            is_reference: false,
        }
    }

    /// A type at random. `number` makes the names of its declarations unique.
    pub fn random(random: &mut Random, number: &str, is_cpp: bool, is_result: bool) -> Shape {
        match random.below(20) {
            0..=9 => Shape::of_leaf(LeafKind::scalar(random), is_cpp),
            10 => {
                let all: &[&str] = &[
                    "long double",
                    "__int128",
                    "float _Complex",
                    "double _Complex",
                ];
                Shape::of_leaf(LeafKind::Opaque(all[random.below(all.len())]), is_cpp)
            }
            11 if !is_result && is_cpp && random.below(2) == 0 => {
                Shape::of_leaf(LeafKind::Opaque("decltype(nullptr)"), true)
            }
            11 => Shape::vector(random),
            12 if is_cpp && !is_result => Shape {
                is_reference: true,
                ..Shape::of_leaf(LeafKind::scalar(random), is_cpp)
            },
            13 if is_cpp && !is_result => Shape::copied(random, number),
            14 => Shape::union(random, number, is_cpp),
            _ => Shape::structure(random, number, is_cpp),
        }
    }

    fn vector(random: &mut Random) -> Shape {
        let (name, kind, count) = [
            (
                "v4si",
                LeafKind::Integer {
                    of: "int",
                    bytes: 4,
                    is_signed: true,
                },
                4,
            ),
            ("v4sf", LeafKind::Float, 4),
            ("v2sf", LeafKind::Float, 2),
            (
                "v2di",
                LeafKind::Integer {
                    of: "long",
                    bytes: 8,
                    is_signed: true,
                },
                2,
            ),
        ][random.below(4)];
        let leaf = |index| Leaf {
            path: format!("[{index}]"),
            kind,
        };
        Shape {
            name: name.to_owned(),
            declaration: String::new(),
            leaves: (0..count).map(leaf).collect(),
            is_reference: false,
        }
    }

    /// A class that is passed by the address of a copy.
    fn copied(random: &mut Random, number: &str) -> Shape {
        let mut shape = Shape::structure(random, number, true);
        let name = shape.name.clone();
        let head = format!("struct {name} {{");
        let methods = format!(
            "{head} {name}() {{}} {name}(const {name} &o) {{ __builtin_memcpy((void *)this, &o, sizeof o); sink++; }} ~{name}() {{ sink++; }}"
        );
        shape.declaration = shape.declaration.replacen(&head, &methods, 1);
        shape
    }

    fn union(random: &mut Random, number: &str, is_cpp: bool) -> Shape {
        let first = LeafKind::scalar(random);
        let second = LeafKind::scalar(random);
        let name = format!("u{number}");
        let written = if is_cpp {
            name.clone()
        } else {
            format!("union {name}")
        };
        let declaration = format!(
            "union {name} {{ {} m0; {} m1; }};\n",
            first.name(is_cpp),
            second.name(is_cpp)
        );
        let path = match first {
            LeafKind::Pointer => "*.m0",
            _ => ".m0",
        };
        Shape {
            name: written,
            declaration,
            leaves: vec![Leaf {
                path: path.to_owned(),
                kind: first,
            }],
            is_reference: false,
        }
    }

    /// A structure of 1 to about 40 bytes.
    fn structure(random: &mut Random, number: &str, is_cpp: bool) -> Shape {
        let name = format!("s{number}");
        let written = if is_cpp {
            name.clone()
        } else {
            format!("struct {name}")
        };
        let mut leaves = Vec::new();
        let mut body = String::new();
        let most = [2, 3, 4, 6][random.below(4)];
        let count = 1 + random.below(most);
        let is_floats = random.below(4) == 0;
        for member in 0..count {
            let kind = match is_floats {
                true => [LeafKind::Float, LeafKind::Double][usize::from(random.below(4) == 0)],
                false => LeafKind::scalar(random),
            };
            let of = kind.name(is_cpp);
            let star = if kind == LeafKind::Pointer { "*" } else { "" };
            match random.below(8) {
                0 => {
                    let length = 1 + random.below(3);
                    body.push_str(&format!(" {of} m{member}[{length}];"));
                    for index in 0..length {
                        let path = format!("{star}.m{member}[{index}]");
                        leaves.push(Leaf { path, kind });
                    }
                }
                1 => {
                    body.push_str(&format!(" struct {{ {of} i; }} m{member};"));
                    leaves.push(Leaf {
                        path: format!("{star}.m{member}.i"),
                        kind,
                    });
                }
                _ => {
                    body.push_str(&format!(" {of} m{member};"));
                    leaves.push(Leaf {
                        path: format!("{star}.m{member}"),
                        kind,
                    });
                }
            }
        }
        Shape {
            declaration: format!("struct {name} {{{body} }};\n"),
            name: written,
            leaves,
            is_reference: false,
        }
    }

    /// The statements that make a variable of the type with these values.
    pub fn variable(&self, name: &str, values: &[LeafValue], is_known: bool) -> String {
        let mut text = format!("{} {name};", self.name);
        if self.leaves.len() > 1 && self.leaves[0].path.starts_with('[') {
            text = format!("{} {name} = {{0}};", self.name);
        }
        for (leaf, value) in self.leaves.iter().zip(values) {
            let path = leaf.path.trim_start_matches('*');
            let value = value.in_c(leaf.kind, is_known);
            text.push_str(&format!(" {name}{path} = {value};"));
        }
        text
    }

    /// A statement that uses a leaf of a variable.
    pub fn uses(&self, name: &str, leaf: &Leaf) -> String {
        let path = leaf.path.trim_start_matches('*');
        match leaf.kind {
            LeafKind::Pointer => format!("sink += (unsigned long)*{name}{path};"),
            LeafKind::Integer { .. } | LeafKind::Bool => {
                format!("sink += (unsigned long){name}{path};")
            }
            LeafKind::Float | LeafKind::Double => format!("fsink += {name}{path};"),
            LeafKind::Opaque("decltype(nullptr)") => "sink++;".to_owned(),
            LeafKind::Opaque("float _Complex" | "double _Complex") => {
                format!("fsink += __real__ {name};")
            }
            LeafKind::Opaque(_) => format!("fsink += (double){name};"),
        }
    }
}

/// How a capture reads a leaf of a name; `None` if no event reads it.
pub fn capture(name: &str, leaf: &Leaf) -> Option<String> {
    match leaf.kind {
        LeafKind::Opaque(_) => None,
        _ => Some(match leaf.path.strip_prefix('*') {
            Some(path) => format!("*{name}{path}"),
            None => format!("{name}{}", leaf.path),
        }),
    }
}
