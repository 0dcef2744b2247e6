// A server that plays juror's part for the page: the files with the headers of the real one, and
// answers from a fixture.

import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
export const assets = join(here, "../../assets");
export const TOKEN = "0123456789abcdef0123456789abcdef";
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript" };

/** Returns a fixture by its name. */
export function fixture(name) {
  return JSON.parse(readFileSync(join(here, "fixtures", `${name}.json`), "utf8"));
}

/** Starts a server over a fixture; nothing is sent before `send`. */
export async function serve(data) {
  const juror = { data, requests: [], commands: [], chosen: [], zoomed: [], streams: new Set(), last: null };
  const server = createServer((request, response) => answer(juror, request, response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  juror.origin = `http://127.0.0.1:${server.address().port}`;
  juror.address = `${juror.origin}/#${TOKEN}`;
  juror.send = (snapshot) => {
    juror.last = snapshot;
    for (const stream of juror.streams) stream.write(`${JSON.stringify(snapshot)}\n`);
  };
  juror.cut = () => {
    for (const stream of juror.streams) stream.end();
  };
  juror.close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return juror;
}

async function answer(juror, request, response) {
  const { pathname } = new URL(request.url, juror.origin);
  juror.requests.push(`${request.method} ${pathname}`);
  if (!pathname.startsWith("/api/")) return sendFile(pathname, response);
  if (request.headers.authorization !== `Bearer ${TOKEN}`) return sendJson(response, 401, {});
  if (pathname === "/api/static") return sendJson(response, 200, juror.data.static);
  if (pathname === "/api/stream") return stream(juror, response);
  const body = JSON.parse(await read(request));
  if (pathname === "/api/slices") {
    await new Promise((resolve) => setTimeout(resolve, juror.delay ?? 0));
    return sendJson(response, 200, slices(juror, body));
  }
  if (pathname === "/api/choose") {
    juror.chosen.push(body);
    return sendJson(response, 200, {});
  }
  if (pathname === "/api/zoom") {
    juror.zoomed.push(body.window);
    return sendJson(response, 200, { sequence: (juror.last?.sequence ?? 0) + 1 });
  }
  if (pathname === "/api/command") return command(juror, body, response);
  return sendJson(response, 404, {});
}

function sendFile(pathname, response) {
  const name = pathname === "/" ? "index.html" : pathname.slice(1);
  try {
    const text = readFileSync(join(assets, name));
    response.writeHead(200, {
      "Content-Type": TYPES[extname(name)],
      "Content-Security-Policy": POLICY,
      "X-Content-Type-Options": "nosniff",
    });
    response.end(text);
  } catch {
    response.writeHead(404).end();
  }
}

function sendJson(response, status, value) {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(value));
}

function stream(juror, response) {
  response.writeHead(200, { "Content-Type": "application/x-ndjson" });
  response.flushHeaders();
  juror.streams.add(response);
  response.on("close", () => juror.streams.delete(response));
  if (juror.last) response.write(`${JSON.stringify(juror.last)}\n`);
}

function command(juror, body, response) {
  juror.commands.push(body);
  const found = juror.data.answers[body.line] ?? { text: "", failed: false };
  sendJson(response, 200, found);
}

/** Finds rows as juror does: by the text of the binding, the violated first. */
function slices(juror, { property, filter, violated_first, offset, count }) {
  const all = juror.data.slices[property] ?? [];
  const words = (row) => row.binding.map(({ name, value }) => `${name} = ${value}`).join(", ");
  const matching = filter ? all.filter((row) => `${words(row)} ${row.state}`.includes(filter)) : [...all];
  if (violated_first)
    matching.sort((a, b) => Number(b.verdict === "violated") - Number(a.verdict === "violated"));
  const total = juror.data.counted?.[property] ?? all.length;
  return {
    total,
    matching: filter ? matching.length : total,
    rows: matching.slice(offset, offset + Math.min(count, 40)),
  };
}

async function read(request) {
  let text = "";
  for await (const part of request) text += part;
  return text;
}
