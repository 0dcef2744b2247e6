//! The requests of the browser.
//!
//! A file of the page is given to anyone on this machine, since it says nothing of the program.
//! All else needs the token in its `Authorization` header, which a page of another origin cannot
//! set without being asked first, and is not. The `Host` must be ours: a name that was made to
//! point here is refused.

use crate::assets;
use crate::shared::{Job, Request, Shared};
use axum::Json;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request as HttpRequest, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use juror_view::live::SlicesWanted;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::oneshot;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::WatchStream;

/// The limit of a request's body, in bytes.
const BODY_MAX: usize = 64 << 10;

/// The policy of the page: it loads files of its own, and nothing else.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// The state of a route.
type Common = State<Arc<Shared>>;

/// Returns the routes of a server at a port.
pub(crate) fn router(shared: Arc<Shared>, port: u16) -> Router {
    let hosts = Arc::new([format!("127.0.0.1:{port}"), format!("localhost:{port}")]);
    let api = Router::new()
        .route("/static", get(fixed))
        .route("/stream", get(stream))
        .route("/slices", post(slices))
        .route("/choose", post(choose))
        .route("/zoom", post(zoom))
        .route("/command", post(command))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&shared),
            authorize,
        ));
    Router::new()
        .nest("/api", api)
        .fallback(file)
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .layer(middleware::from_fn(
            move |request: HttpRequest, next: Next| {
                let hosts = Arc::clone(&hosts);
                async move { guard(&hosts[..], request, next).await }
            },
        ))
        .with_state(shared)
}

/// Refuses foreign hosts and origins, and adds the headers that every answer has.
async fn guard(hosts: &[String], request: HttpRequest, next: Next) -> Response {
    let mut response = if is_ours(hosts, request.headers()) {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, "not for this host\n").into_response()
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Returns whether a request is for one of these hosts, and from a page of one of them or from no
/// page.
fn is_ours(hosts: &[String], headers: &HeaderMap) -> bool {
    let of = |name| headers.get(name).and_then(|it| it.to_str().ok());
    let is_host = |given: &str| hosts.iter().any(|it| it == given);
    let is_origin = |given: &str| given.strip_prefix("http://").is_some_and(is_host);
    of(header::HOST).is_some_and(is_host)
        && (headers.get(header::ORIGIN).is_none() || of(header::ORIGIN).is_some_and(is_origin))
}

/// Refuses requests without the token.
async fn authorize(State(shared): Common, request: HttpRequest, next: Next) -> Response {
    if is_authorized(&shared.token, request.headers()) {
        next.run(request).await
    } else {
        let text = "open the address that juror has printed: it has the token\n";
        (StatusCode::UNAUTHORIZED, text).into_response()
    }
}

fn is_authorized(token: &str, headers: &HeaderMap) -> bool {
    let given = headers.get(header::AUTHORIZATION);
    let given = given.and_then(|it| it.as_bytes().strip_prefix(b"Bearer "));
    // All bytes are compared, so that the time says nothing.
    given.is_some_and(|given| {
        let pairs = given.iter().zip(token.as_bytes());
        given.len() == token.len() && pairs.fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
    })
}

/// Gives a file of the page.
async fn file(request: HttpRequest) -> Response {
    let path = request.uri().path().trim_start_matches('/');
    match assets::find(path) {
        Some((kind, text)) => ([(header::CONTENT_TYPE, kind)], text).into_response(),
        None => (StatusCode::NOT_FOUND, "there is no such file\n").into_response(),
    }
}

/// Waits for the answer of the session.
async fn ask(shared: &Shared, request: Request) -> Response {
    let (reply, answer) = oneshot::channel();
    let job = Job {
        request,
        reply: Some(reply),
    };
    if !shared.submit(job) {
        let text = "too many requests wait for the session\n";
        return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
    }
    match answer.await {
        Ok(value) => Json(value).into_response(),
        Err(_) => (StatusCode::GONE, "juror has ended\n").into_response(),
    }
}

async fn fixed(State(shared): Common) -> Response {
    ask(&shared, Request::Static).await
}

async fn slices(State(shared): Common, body: Bytes) -> Response {
    match serde_json::from_slice::<SlicesWanted>(&body) {
        Ok(wanted) => ask(&shared, Request::Slices(wanted)).await,
        Err(error) => malformed(&error),
    }
}

/// The body of `choose`.
#[derive(Deserialize)]
struct Choice {
    property: String,
    binding: Option<Vec<Bound>>,
}

/// A value of a slice's binding.
#[derive(Deserialize)]
struct Bound {
    value: Value,
}

async fn choose(State(shared): Common, body: Bytes) -> Response {
    let choice: Choice = match serde_json::from_slice(&body) {
        Ok(choice) => choice,
        Err(error) => return malformed(&error),
    };
    let binding = choice.binding.map(|bound| {
        let values = bound.into_iter().map(|bound| match bound.value {
            Value::String(text) => text,
            other => other.to_string(),
        });
        values.collect()
    });
    let property = choice.property;
    ask(&shared, Request::Choose { property, binding }).await
}

/// The body of `zoom`.
#[derive(Deserialize)]
struct Zoom {
    window: Option<Window>,
}

/// A part of the time line, in its unit.
#[derive(Deserialize)]
struct Window {
    from_ns: u64,
    to_ns: u64,
}

async fn zoom(State(shared): Common, body: Bytes) -> Response {
    match serde_json::from_slice::<Zoom>(&body) {
        Ok(zoom) => {
            let window = zoom.window.map(|it| (it.from_ns, it.to_ns));
            ask(&shared, Request::Zoom(window)).await
        }
        Err(error) => malformed(&error),
    }
}

/// The body of `command`.
#[derive(Deserialize)]
struct CommandBody {
    line: Option<String>,
    #[serde(default)]
    interrupt: bool,
}

async fn command(State(shared): Common, body: Bytes) -> Response {
    let command: CommandBody = match serde_json::from_slice(&body) {
        Ok(command) => command,
        Err(error) => return malformed(&error),
    };
    match command.line {
        _ if command.interrupt => {
            shared.interrupt();
            Json(json!({ "text": "", "failed": false })).into_response()
        }
        Some(line) if line.contains('\n') => {
            (StatusCode::BAD_REQUEST, "a command is one line\n").into_response()
        }
        Some(line) => ask(&shared, Request::Command(line)).await,
        None => (StatusCode::BAD_REQUEST, "a line is missing\n").into_response(),
    }
}

fn malformed(error: &serde_json::Error) -> Response {
    (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response()
}

/// Counts a stream while it is read.
struct Watcher(Arc<Shared>);

impl Watcher {
    fn new(shared: Arc<Shared>) -> Watcher {
        shared.watchers.fetch_add(1, Ordering::Relaxed);
        Watcher(shared)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.0.watchers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Streams snapshots, one a line. A slow reader gets the last one only.
async fn stream(State(shared): Common) -> Response {
    let watcher = Watcher::new(Arc::clone(&shared));
    shared.submit(Job {
        request: Request::Sample,
        reply: None,
    });
    let lines = WatchStream::new(shared.snapshots.subscribe());
    let lines = lines.filter_map(move |line| {
        let _counted = &watcher;
        let is_empty = line.is_empty();
        (!is_empty).then(|| Ok::<Bytes, std::convert::Infallible>(Bytes::from(format!("{line}\n"))))
    });
    let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
    (kind, Body::from_stream(lines)).into_response()
}
