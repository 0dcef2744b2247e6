// Helpers of the tests of the page: a browser, a page over a fixture, and waiting.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after } from "node:test";
import { fixture, serve } from "./server.mjs";

const modules = createRequire(`${process.env.JUROR_PAGE_MODULES}/`);
const { chromium } = modules("playwright-core");
const DEADLINE_MS = 60_000;

let browser = null;

/** Returns the path of a file of an npm package. */
export function moduleFile(name) {
  return modules.resolve(name);
}

async function launched() {
  if (browser) return browser;
  // Root has no sandbox of its own, as in a container.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  browser = await chromium.launch({ executablePath: process.env.JUROR_PAGE_CHROMIUM, args });
  return browser;
}

after(() => browser?.close());

/** Opens the page over a fixture, by name or as data, and runs a test; the browser must not have
 * complained of anything. */
export async function withPage(data, options, test) {
  const juror = await serve(typeof data === "string" ? fixture(data) : data);
  const context = await (
    await launched()
  ).newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "light", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(DEADLINE_MS);
  const complaints = listen(page);
  try {
    await page.goto(options.address ? options.address(juror) : juror.address);
    await test({ juror, page, complaints });
    const unexpected = complaints.filter((text) => !(options.expected ?? /^$/).test(text));
    assert.deepEqual(unexpected, [], "the browser complained");
  } finally {
    await context.close();
    await juror.close();
  }
}

/** Opens an address: a report in a file, or the page of juror itself. */
export async function withAddress(address, options, test) {
  const context = await (await launched()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(DEADLINE_MS);
  const complaints = listen(page);
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  try {
    await page.goto(address);
    await test({ page, requests });
    assert.deepEqual(complaints, [], "the browser complained");
  } finally {
    await context.close();
  }
}

function listen(page) {
  const complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  return complaints;
}

/** Waits until a value is what a test expects. */
export async function eventually(read, expected, what) {
  const deadline = performance.now() + DEADLINE_MS;
  let value;
  do {
    value = await read();
    if (expected instanceof RegExp ? expected.test(value) : Object.is(value, expected)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  } while (performance.now() < deadline);
  assert.fail(`${what}: expected ${expected}, got ${value}`);
}

/** Waits until the page reads the stream. */
export async function following(juror) {
  await eventually(() => juror.streams.size > 0, true, "the page follows the stream");
}

/** Sends the first snapshot that a test of it accepts, and waits until its status is shown. */
export async function show(juror, page, wanted) {
  await following(juror);
  const snapshot = juror.data.snapshots.find(wanted);
  juror.send(snapshot);
  await eventually(() => page.locator("#status").textContent(), new RegExp(snapshot.status), "the status");
  return snapshot;
}

export const isStopped = (snapshot) => snapshot.status === "stopped";
export const isRunning = (snapshot) => snapshot.status === "running";

/** Returns a copy of a snapshot with changes and the next number. */
export function changed(snapshot, change) {
  const copy = structuredClone(snapshot);
  copy.sequence += 1;
  change(copy);
  return copy;
}

/** Returns computed styles of an element. */
export function styles(locator, names) {
  return locator.evaluate((element, wanted) => {
    const style = getComputedStyle(element);
    return Object.fromEntries(wanted.map((name) => [name, style.getPropertyValue(name)]));
  }, names);
}

/** Notes the width of the line of a transition whenever the transition is marked or not any more. */
export async function noteWidths(page, edge) {
  const group = page.locator(`svg g.edge[data-id="${edge}"]`);
  await group.evaluate((element) => {
    const width = () => Number.parseFloat(getComputedStyle(element.querySelector(".line")).strokeWidth);
    element.widths = [width()];
    new MutationObserver(() => element.widths.push(width())).observe(element, { attributes: true });
  });
  return async () => String(await group.evaluate((element) => element.widths));
}

/** Returns the state of a drawing that has this name. */
export function stateOf(page, name) {
  return page.locator("svg g.state").filter({ has: page.locator(`text=/^${name}$/`) });
}

/** Writes a picture of the page, if a directory for them was given. */
export async function picture(page, name) {
  const directory = process.env.JUROR_PAGE_SCREENSHOTS;
  if (!directory) return;
  mkdirSync(directory, { recursive: true });
  await page.screenshot({ path: join(directory, `${name}.png`) });
}
