//! Variables of Rust coroutines where they are entered.

use crate::support::dialog::dialog;
use crate::support::printed::plain_builds;
use juror_testing::{Fixture, Language};

const SOURCE: &str = r#"
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
struct Once(bool);
impl Future for Once {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.0 { return Poll::Ready(()); }
        self.0 = true;
        Poll::Pending
    }
}
async fn sum_of(n: u32, name: String, gone: String) -> u32 {
    let m = n + gone.len() as u32;
    drop(gone);
    Once(false).await;
    m + n + name.len() as u32
}
async fn text_of(n: u64) -> String {
    let sum = sum_of(n as u32, "abc".to_string(), "moved".to_string()).await;
    format!("{sum} {n}")
}
async fn nothing_of(flag: bool) { if flag { Once(true).await } }
fn main() {
    let mut context = Context::from_waker(Waker::noop());
    let mut outer = Box::pin(text_of(41));
    while outer.as_mut().poll(&mut context).is_pending() {}
    let mut other = Box::pin(nothing_of(true));
    while other.as_mut().poll(&mut context).is_pending() {}
    let kept = 7u8;
    let mut block = Box::pin(async move { Once(false).await; kept });
    while block.as_mut().poll(&mut context).is_pending() {}
}
"#;

#[test]
fn variables_are_right_where_a_coroutine_is_entered() {
    for build in plain_builds(Language::Rust) {
        let executable = Fixture::rust("coroutines", SOURCE).compile(&build);
        let commands = [
            "break sum_of::{{closure}}",
            "break text_of::{{closure}}",
            "break nothing_of::{{closure}}",
            "run",
            "print n",
            "continue",
            "print n",
            "print name",
            "print gone",
            "stepi",
            "print n",
            "continue",
            "print n",
            "continue",
            "print n",
            "print name",
            "continue",
            "print flag",
            "kill",
        ];
        let answers = dialog(&executable, &commands);
        for (at, expected) in [
            (3, "in coroutines::text_of::"),
            (4, "41"),
            (5, "in coroutines::sum_of::"),
            (6, "41"),
            (7, "\"abc\""),
            (8, "\"moved\""),
            (10, "41"),
            (11, "in coroutines::text_of::"),
            (12, "41"),
            (13, "in coroutines::sum_of::"),
            (14, "41"),
            (15, "\"abc\""),
            (16, "in coroutines::nothing_of::"),
            (17, "true"),
        ] {
            let answer = &answers[at];
            let is_right = match at {
                3 | 5 | 11 | 13 | 16 => answer.contains(expected),
                _ => answer == expected,
            };
            assert!(is_right, "{build}: {}: {answers:?}", commands[at]);
        }
    }
}
