//! Connections of a run to the world outside, which no world of its own takes back: they are told.

use super::Control;
use juror_debuggee::Debuggee;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const CONNECT: u64 = 42;
const SENDTO: u64 = 44;

/// `AF_INET` and `AF_INET6`.
const INTERNET: u16 = 2;
const INTERNET_6: u16 = 10;

/// The most addresses of a run that are noted.
const ADDRESSES_MAX: usize = 16;

/// The state of a socket that listens, as /proc/net/tcp has it.
const LISTENS: &str = "0A";

impl Control {
    /// Notes to where a call at whose entry a thread stands connects, or sends.
    pub(super) fn note_connection(
        &mut self,
        debuggee: &Debuggee,
        number: u64,
        arguments: [u64; 6],
    ) {
        let [_, second, third, _, fifth, sixth] = arguments;
        let (address, length) = match number {
            CONNECT => (second, third),
            SENDTO => (fifth, sixth),
            _ => return,
        };
        let mut bytes = [0; 28];
        let length = usize::try_from(length).unwrap_or(0).min(bytes.len());
        let Some(part) = bytes.get_mut(..length).filter(|part| !part.is_empty()) else {
            return;
        };
        if address == 0 || debuggee.read(address, part).is_err() {
            return;
        }
        let Some(address) = address_of(part) else {
            return;
        };
        if self.outside.len() >= ADDRESSES_MAX || self.outside.contains(&address) {
            return;
        }
        let process = debuggee.pid();
        if !(address.ip().is_loopback() && has_port(process, address.port())) {
            self.outside.insert(address);
        }
    }
}

/// Reads the address of a `sockaddr`; none if it is of this machine's own kinds.
fn address_of(bytes: &[u8]) -> Option<SocketAddr> {
    let [family, family_high, port, port_low, rest @ ..] = bytes else {
        return None;
    };
    let port = u16::from_be_bytes([*port, *port_low]);
    let address = match u16::from_le_bytes([*family, *family_high]) {
        INTERNET => {
            let address: [u8; 4] = rest.get(..4)?.try_into().ok()?;
            IpAddr::V4(Ipv4Addr::from(address))
        }
        INTERNET_6 => {
            // After the information on the flow.
            let address: [u8; 16] = rest.get(4..20)?.try_into().ok()?;
            let address = Ipv6Addr::from(address);
            address
                .to_ipv4_mapped()
                .map_or(IpAddr::V6(address), IpAddr::V4)
        }
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

/// Returns whether a process itself takes what is sent to a port of this machine.
fn has_port(process: u32, port: u16) -> bool {
    let descriptors = std::fs::read_dir(format!("/proc/{process}/fd"));
    let links = descriptors.into_iter().flatten().flatten();
    let links = links.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let own: Vec<String> = links.map(|link| link.display().to_string()).collect();
    ["tcp", "tcp6", "udp", "udp6"].iter().any(|name| {
        let text = std::fs::read_to_string(format!("/proc/{process}/net/{name}"));
        let text = text.unwrap_or_default();
        let mut sockets = text.lines().filter_map(|line| socket_at(line, port, name));
        sockets.any(|inode| own.contains(&format!("socket:[{inode}]")))
    })
}

/// Returns the inode of the socket of a line of /proc/net, if it takes what is sent to a port.
fn socket_at<'a>(line: &'a str, port: u16, name: &str) -> Option<&'a str> {
    let mut words = line.split_whitespace();
    let (_, own) = words.nth(1)?.rsplit_once(':')?;
    let state = words.nth(1)?;
    let inode = words.nth(5)?;
    let is_open = state == LISTENS || name.starts_with("udp");
    let is_meant = u16::from_str_radix(own, 16) == Ok(port) && is_open;
    is_meant.then_some(inode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let four = [2, 0, 0x1f, 0x90, 93, 184, 216, 34, 0, 0, 0, 0, 0, 0, 0, 0];
        let address = address_of(&four).map(|it| it.to_string());
        assert_eq!(address.as_deref(), Some("93.184.216.34:8080"));
        let mut six = [0; 28];
        six[..4].copy_from_slice(&[10, 0, 0, 80]);
        six[23] = 1;
        let address = address_of(&six).map(|it| it.to_string());
        assert_eq!(address.as_deref(), Some("[::1]:80"));
        assert_eq!(address_of(&[1, 0, b'/', b'x', 0]), None);
        assert_eq!(address_of(&four[..6]), None);
    }

    #[test]
    fn a_socket_that_listens_is_found() {
        let line = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12345 1 0000000000000000 100 0 0 10 0";
        assert_eq!(socket_at(line, 8080, "tcp"), Some("12345"));
        assert_eq!(socket_at(line, 8081, "tcp"), None);
        let connected = line.replace(" 0A ", " 01 ");
        assert_eq!(socket_at(&connected, 8080, "tcp"), None);
        assert_eq!(socket_at(&connected, 8080, "udp"), Some("12345"));
    }

    #[test]
    fn a_port_of_this_process_is_its_own() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(has_port(std::process::id(), port));
        drop(listener);
        assert!(!has_port(std::process::id(), port));
    }
}
