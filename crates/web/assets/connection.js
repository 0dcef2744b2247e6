// The way to juror: the token, requests, and the stream of snapshots.

import { restartSequence, takeSnapshot } from "./store.js";

const TOKEN_KEY = "juror-token";
const RETRIES_MAX = 6;

/** Says that juror refused the token. */
export class Unauthorized extends Error {}

/** Creates a connection; `told` gets a text about it, or null when all is well. */
export function createConnection(store, told) {
  return { store, told, token: takeToken(), abort: null, failures: 0, isUnreadable: false };
}

// The token leaves the address, so that it is on no screenshot; a reload finds it in the storage of
// the tab. The storage of a frame without an origin cannot be used.
function takeToken() {
  const given = location.hash.slice(1);
  if (/^[A-Za-z0-9_-]{8,}$/.test(given)) {
    try {
      sessionStorage.setItem(TOKEN_KEY, given);
      history.replaceState(null, "", location.pathname + location.search);
    } catch {
      // The address keeps it.
    }
    return given;
  }
  try {
    return sessionStorage.getItem(TOKEN_KEY) ?? "";
  } catch {
    return "";
  }
}

/** Sends a request, and returns what juror answers. */
export async function ask(connection, path, body) {
  const response = await fetch(path, {
    method: body === undefined ? "GET" : "POST",
    headers: headers(connection, body),
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
  });
  await refuseErrors(response);
  return response.json();
}

function headers(connection, body) {
  const headers = { Authorization: `Bearer ${connection.token}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  return headers;
}

async function refuseErrors(response) {
  if (response.status === 401) throw new Unauthorized();
  if (!response.ok) {
    const text = await response.text();
    throw new Error(text.slice(0, 500) || `juror answered ${response.status}`);
  }
}

/** Follows the run while the page is seen. A page that nobody looks at costs the program nothing. */
export function follow(connection) {
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) connection.abort?.abort();
    else if (!connection.abort) readStream(connection);
  });
  if (!document.hidden) readStream(connection);
}

/** Tries again at once, after the page has given up. */
export function followAgain(connection) {
  connection.failures = 0;
  if (!connection.abort) readStream(connection);
}

async function readStream(connection) {
  const abort = new AbortController();
  connection.abort = abort;
  try {
    const response = await fetch("/api/stream", {
      headers: headers(connection),
      signal: abort.signal,
      cache: "no-store",
    });
    await refuseErrors(response);
    connection.told(null);
    restartSequence(connection.store);
    await readLines(response.body, (line) => takeLine(connection, line));
  } catch (error) {
    if (error instanceof Unauthorized) {
      connection.abort = null;
      connection.told({ kind: "unauthorized" });
      return;
    }
  }
  connection.abort = null;
  if (abort.signal.aborted || document.hidden) {
    if (!document.hidden) readStream(connection);
    return;
  }
  tryLater(connection);
}

function takeLine(connection, line) {
  let snapshot;
  try {
    snapshot = JSON.parse(line);
  } catch {
    connection.isUnreadable = true;
    connection.told({ kind: "unreadable" });
    return;
  }
  connection.failures = 0;
  if (connection.isUnreadable) connection.told(null);
  connection.isUnreadable = false;
  takeSnapshot(connection.store, snapshot);
}

function tryLater(connection) {
  connection.failures += 1;
  if (connection.failures > RETRIES_MAX) {
    connection.told({ kind: "lost" });
    return;
  }
  connection.told({ kind: "reconnecting" });
  setTimeout(
    () => {
      if (!connection.abort && !document.hidden) readStream(connection);
    },
    250 * 2 ** connection.failures,
  );
}

async function readLines(body, take) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.trim() !== "") take(line);
  }
}
