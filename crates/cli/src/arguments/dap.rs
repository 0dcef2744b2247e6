//! The command line of `juror dap`.

use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

pub(super) const DAP_EXAMPLES: &str = "\
Examples:
  juror dap
      speak the protocol on the standard input and output: editors start this
  juror dap --listen 127.0.0.1:4711 --token $TOKEN
      wait for one client on a port; it gives the token in its launch configuration.
      Without --token juror makes one and prints it";

pub(super) const DAP_AFTER: &str = "\
A launch configuration names the program and the properties:
  { \"program\": \"./faulty\", \"args\": [\"--size\", \"8\"], \"properties\": [\"queue.prop\"] }
Further fields: cwd, env, scenarios, stopOnEntry, initCommands, checkpoint, tier,
console, stdin, stateChanges; for attach: pid, or program for the name of a process.";

/// `juror dap`.
#[derive(Debug, Args)]
pub struct Dap {
    /// Wait for a client on this address instead: 127.0.0.1:PORT, port 0 for any
    #[arg(long, value_name = "ADDRESS", value_parser = loopback)]
    pub listen: Option<SocketAddr>,
    /// The token that the client must give in its launch configuration; one is made if none is given
    #[arg(long, value_name = "TOKEN", requires = "listen")]
    pub token: Option<String>,
    /// Do not execute the command files init and .juror
    #[arg(long)]
    pub no_init: bool,
    /// Tell the terminal to the adapter that waits at this socket
    #[arg(long, value_name = "SOCKET", hide = true, conflicts_with = "listen")]
    pub terminal_of: Option<PathBuf>,
}

/// Parses an address of this machine.
fn loopback(word: &str) -> Result<SocketAddr, String> {
    match word.parse::<SocketAddr>() {
        Ok(address) if address.ip().is_loopback() => Ok(address),
        Ok(_) => Err("only addresses of this machine: 127.0.0.1:PORT".to_owned()),
        Err(_) => Err("expected an address such as 127.0.0.1:4711".to_owned()),
    }
}
