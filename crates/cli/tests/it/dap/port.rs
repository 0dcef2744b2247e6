//! An adapter on a port, and clients that have not shown the token.

use super::lifecycle::{listening, say};
use super::sessions::queue;
use serde_json::json;
use std::net::TcpStream;

#[test]
fn a_client_that_idles_does_not_hold_others_up() {
    let (mut child, address) = listening("secret");
    let mut idle = TcpStream::connect(&address).unwrap();
    let hello = json!({ "adapterID": "juror" });
    assert_eq!(say(&mut idle, 1, "initialize", hello)["success"], true);
    let _silent = TcpStream::connect(&address).unwrap();
    let (program, _) = queue();
    let mut stream = TcpStream::connect(&address).unwrap();
    let arguments = json!({ "program": program, "token": "secret" });
    assert_eq!(say(&mut stream, 1, "launch", arguments)["success"], true);
    let answer = say(&mut stream, 2, "disconnect", json!({}));
    assert_eq!(answer["success"], true);
    assert!(child.wait().unwrap().success());
}
