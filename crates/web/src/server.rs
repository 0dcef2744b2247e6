//! The server: a thread that listens on the loopback interface.

use crate::page::LivePage;
use crate::routes;
use crate::shared::{Job, PERIOD_MIN_MS, Request, Shared};
use crate::snapshot::Static;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use thiserror::Error;

/// Why no page can be served.
#[derive(Debug, Error)]
pub enum ServerError {
    /// No port can be opened.
    #[error("no port can be opened on the loopback interface: {0}")]
    Listen(#[source] io::Error),
    /// No thread can be started.
    #[error("the server cannot be started: {0}")]
    Start(#[source] io::Error),
}

/// A server, which runs until juror ends.
pub struct Server {
    shared: Arc<Shared>,
    port: u16,
}

impl Server {
    /// Opens a port of the loopback interface, a free one if it is 0, and serves the page there, to
    /// who has the token.
    /// Started before the session: the thread that drives one may be bound to a processor, and
    /// threads that it starts then are, too.
    ///
    /// # Errors
    /// The port is taken, or the system refuses a thread.
    pub fn start(port: u16, token: String) -> Result<Server, ServerError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = listener.map_err(ServerError::Listen)?;
        listener
            .set_nonblocking(true)
            .map_err(ServerError::Listen)?;
        let port = listener.local_addr().map_err(ServerError::Listen)?.port();
        let shared = Arc::new(Shared::new(token));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(ServerError::Start)?;
        let served = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("page".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
                        return;
                    };
                    tokio::spawn(ask_for_samples(Arc::clone(&served)));
                    let _ = axum::serve(listener, routes::router(served, port)).await;
                });
            })
            .map_err(ServerError::Start)?;
        Ok(Server { shared, port })
    }

    /// Returns the address to open; no log and no other page sees the part behind `#`.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/#{}", self.port, self.shared.token)
    }

    /// Returns the side of the session.
    pub fn page(&self, fixed: Static) -> LivePage {
        LivePage::new(Some(Arc::clone(&self.shared)), fixed)
    }
}

/// Asks for samples while a command runs and somebody looks. Requests that came before the
/// program could be interrupted are repeated.
async fn ask_for_samples(shared: Arc<Shared>) {
    loop {
        let period = shared.period_ms.load(Ordering::Relaxed).max(PERIOD_MIN_MS);
        tokio::time::sleep(Duration::from_millis(period)).await;
        let is_watched = shared.watchers.load(Ordering::Relaxed) > 0;
        if !shared.is_running.load(Ordering::SeqCst) {
            continue;
        }
        if is_watched {
            shared.submit(Job {
                request: Request::Sample,
                reply: None,
            });
        } else if shared.has(true) {
            shared.wake();
        }
    }
}
