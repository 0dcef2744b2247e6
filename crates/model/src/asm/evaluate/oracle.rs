//! Random rules, compared with an independent definition of their updates: as functions
//! from states to updates.

use crate::asm::load;
use crate::asm::possibilities::Possibilities;
use crate::promela::Text;
use proptest::prelude::*;
use std::collections::BTreeMap;

const NAMES: [&str; 3] = ["a", "b", "c"];

type Values = [i64; 3];
/// Updates by variable; `None` if two of them disagree.
type Wanted = Option<BTreeMap<usize, i64>>;

#[derive(Debug, Clone)]
enum Shape {
    Update(usize, usize, i64),
    Par(Vec<Shape>),
    Seq(Vec<Shape>),
    If(usize, i64, Box<Shape>, Box<Shape>),
    Forall(usize, Vec<i64>),
}

fn shapes() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        (0..3_usize, 0..3_usize, 0..3_i64).prop_map(|(to, from, add)| Shape::Update(to, from, add)),
        (0..3_usize, proptest::collection::vec(0..2_i64, 0..2))
            .prop_map(|(to, values)| Shape::Forall(to, values)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            list.clone().prop_map(Shape::Par),
            list.prop_map(Shape::Seq),
            (0..3_usize, 0..3_i64, inner.clone(), inner).prop_map(|(of, value, then, other)| {
                Shape::If(of, value, Box::new(then), Box::new(other))
            }),
        ]
    })
}

fn text(shape: &Shape) -> String {
    let all = |shapes: &[Shape]| shapes.iter().map(text).collect::<Vec<_>>().join(" ");
    match shape {
        Shape::Update(to, from, add) => format!("{} := {} + {add}", NAMES[*to], NAMES[*from]),
        Shape::Par(shapes) => format!("{{ {} }}", all(shapes)),
        Shape::Seq(shapes) => format!("seq {{ {} }}", all(shapes)),
        Shape::If(of, value, then, other) => format!(
            "if {} = {value} {{ {} }} else {{ {} }}",
            NAMES[*of],
            text(then),
            text(other)
        ),
        Shape::Forall(to, values) => {
            format!("forall x in {values:?} {{ {} := x }}", NAMES[*to])
        }
    }
}

fn wanted(shape: &Shape, values: &Values) -> Wanted {
    match shape {
        Shape::Update(to, from, add) => Some([(*to, values[*from] + add)].into()),
        Shape::If(of, value, then, other) => {
            if values[*of] == *value {
                wanted(then, values)
            } else {
                wanted(other, values)
            }
        }
        Shape::Par(shapes) => {
            let mut all = BTreeMap::new();
            for shape in shapes {
                for (to, value) in wanted(shape, values)? {
                    if *all.entry(to).or_insert(value) != value {
                        return None;
                    }
                }
            }
            Some(all)
        }
        Shape::Seq(shapes) => {
            let (mut now, mut all) = (*values, BTreeMap::new());
            for shape in shapes {
                for (to, value) in wanted(shape, &now)? {
                    now[to] = value;
                    all.insert(to, value);
                }
            }
            Some(all)
        }
        Shape::Forall(to, values) => match &values[..] {
            [] => Some(BTreeMap::new()),
            [first, rest @ ..] if rest.iter().all(|value| value == first) => {
                Some([(*to, *first)].into())
            }
            _ => None,
        },
    }
}

proptest! {
    #[test]
    fn steps_are_as_defined(shape in shapes(), start in proptest::array::uniform3(0..3_i64)) {
        let declarations: Vec<String> = NAMES
            .iter()
            .zip(start)
            .map(|(name, value)| format!("controlled {name} : Int = {value}"))
            .collect();
        let source = format!("{} main {{ {} }}", declarations.join(" "), text(&shape));
        let file = Text { name: "test.asm".to_owned(), text: source.clone() };
        let model = load(file, &mut |_| Err(String::new())).map_err(|rejection| {
            TestCaseError::fail(format!("{source}: {:?}", rejection.faults))
        })?;
        let state = model.begin(&mut Possibilities::default()).unwrap();
        let stepped = model.step(&state, &mut Possibilities::default());
        match wanted(&shape, &start) {
            None => prop_assert_eq!(stepped.unwrap_err().fault().code, "clash"),
            Some(updates) => {
                let values = model.values_of(&stepped.unwrap().state);
                for (number, (value, start)) in values.iter().zip(start).enumerate() {
                    let expected = updates.get(&number).copied().unwrap_or(start);
                    prop_assert_eq!(&value.value, &expected.to_string());
                }
            }
        }
    }
}
