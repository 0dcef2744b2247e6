//! Values that take long to read: pages go on from one another, and the client can end a read.

use super::client::Client;
use juror_testing::Fixture;
use serde_json::{Value, json};

const CONTAINERS: &str = r#"#include <cstring>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <set>
#include <unordered_map>

static int is_stopped(int n) { return n; }

__attribute__((noinline)) static void earlier()
{
    volatile unsigned char old[512];
    for (unsigned i = 0; i < sizeof old; i++)
        old[i] = (unsigned char)(i * 37);
}

__attribute__((noinline)) static int later(int n)
{
    n += is_stopped(n);
    std::deque<int> waiting;
    std::list<int> ready;
    waiting.push_back(n);
    ready.push_back(n);
    return waiting.front() + ready.front();
}

int main(int count, char **words)
{
    std::map<int, int> map;
    std::set<int> set;
    std::list<int> list;
    std::unordered_map<int, int> table;
    std::forward_list<int> chain;
    int many = count > 1 ? 3000000 : 3000;
    for (int i = 0; i < 3000; i++) {
        map[i] = 2 * i;
        set.insert(i);
        list.push_back(i);
        table[i] = 2 * i;
    }
    for (int i = many; i-- > 0;)
        chain.push_front(i);
    int sum = is_stopped(count);
    earlier();
    return sum + later(count) > 0 && words ? 0 : 1;
}
"#;

/// A client at the line with this text, and the innermost frame.
fn stopped(text: &str, arguments: &[&str]) -> (Client, Value) {
    let program = Fixture::cpp("long_reads", CONTAINERS).compile_plain();
    let source = program.with_file_name("long_reads.cpp");
    let line = CONTAINERS.lines().position(|it| it.contains(text));
    let line = line.expect("the line is there") as u32 + 1;
    let mut client = Client::start();
    client.launch(json!({ "program": program, "args": arguments }));
    client.break_at(source.to_str().unwrap(), &[line]);
    let stop = client.begin();
    let frame = client.top(&stop["threadId"]);
    (client, frame)
}

/// A page of a container: the names and values of its parts.
fn page(client: &mut Client, of: &Value, start: u32, count: u32) -> Vec<(String, String)> {
    let arguments = json!({
        "variablesReference": of["variablesReference"],
        "filter": "indexed", "start": start, "count": count,
    });
    let page = client.ask("variables", arguments);
    let rows = page["variables"].as_array().expect("rows").iter();
    rows.map(|row| {
        let text = |key: &str| row[key].as_str().expect("a text").to_owned();
        (text("name"), text("value"))
    })
    .collect()
}

#[test]
fn pages_are_the_same_in_any_order() {
    let (mut client, frame) = stopped("int sum =", &[]);
    let locals = client.scope(&frame, "Locals")["variablesReference"].clone();
    for name in ["map", "set", "list", "table", "chain"] {
        let container = client.variable(&locals, name);
        assert_eq!(container["indexedVariables"], 3000, "{name}");
        let whole = page(&mut client, &container, 0, 3000);
        assert_eq!(whole.len(), 3000, "{name}");
        if name != "table" {
            let (_, last) = &whole[2999];
            let expected = if name == "map" { "5998" } else { "2999" };
            assert_eq!(last, expected, "{name}");
        }
        for start in [2900, 0, 100, 2999, 64, 1500, 1501, 2998, 63, 2999] {
            let part = page(&mut client, &container, start, 100);
            let start = start as usize;
            let end = (start + 100).min(3000);
            assert_eq!(part, whole[start..end], "{name} from {start}");
        }
    }
    // A value that was written is read anew.
    client.repl("print map[7] = 70");
    let map = client.variable(&locals, "map");
    assert_eq!(page(&mut client, &map, 7, 1)[0].1, "70");
    client.leave();
}

#[test]
fn what_is_not_made_yet_is_answered() {
    let (mut client, frame) = stopped("n += is_stopped", &[]);
    let locals = client.scope(&frame, "Locals")["variablesReference"].clone();
    let names: Vec<Value> = client.variables(&locals);
    let names = names.iter().map(|it| it["name"].as_str().unwrap_or(""));
    let names: Vec<&str> = names.collect();
    assert!(
        names.contains(&"waiting") && names.contains(&"ready"),
        "{names:?}"
    );
    client.leave();
}

#[test]
fn a_read_that_takes_long_is_cancelled_and_ends_with_the_session() {
    // A walk through the chain takes minutes.
    let (mut client, frame) = stopped("int sum =", &["long"]);
    let locals = client.scope(&frame, "Locals")["variablesReference"].clone();
    let question = client.send("variables", json!({ "variablesReference": locals }));
    client.ask("cancel", json!({ "requestId": question }));
    let answer = client.answer(question);
    assert_eq!(answer["success"], false, "{answer}");
    assert_eq!(answer["message"], "cancelled", "{answer}");
    // The next question is not meant.
    let list = json!({ "expression": "list", "frameId": frame["id"], "context": "watch" });
    client.send("evaluate", list);
    client.send("variables", json!({ "variablesReference": locals }));
    client.leave();
}
