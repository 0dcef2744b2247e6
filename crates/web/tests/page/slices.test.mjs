import assert from "node:assert/strict";
import { test } from "node:test";
import { fixture } from "./server.mjs";
import { changed, eventually, isRunning, isStopped, show, withPage } from "./support.mjs";

/** Returns the queue with a million slices, of which the violated ones are the last. */
function many() {
  const data = fixture("queue");
  const row = (number, isViolated) => ({
    binding: [{ name: "queue", value: `0x${number.toString(16)}` }],
    state: isViolated ? "overflow" : "ready",
    verdict: isViolated ? "violated" : "presumably_satisfied",
    variables: [{ name: "room", value: number }],
  });
  data.slices.queue_bounds = Array.from({ length: 130 }, (_, number) => row(number, number >= 128));
  data.counted = { queue_bounds: 1_000_000 };
  for (const snapshot of data.snapshots)
    Object.assign(snapshot.properties[0], { slice_count: 1_000_000, violated_count: 2 });
  return data;
}

const table = (page) => page.getByRole("grid", { name: "Slices" });
const cell = (page, row, column) => table(page).getByRole("row").nth(row).getByRole("gridcell").nth(column);

test("the violated slices are the first, and a word says so", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    await eventually(() => cell(page, 1, 2).textContent(), "✗ violated", "the first row");
    assert.equal(await cell(page, 1, 0).textContent(), "queue = 0x5555555592e0");
    assert.equal(await cell(page, 1, 3).textContent(), "room = 12, letters = 12, digits = 3");
    await page.getByLabel("violated first").uncheck();
    await eventually(
      () => cell(page, 1, 0).textContent(),
      "queue = 0x5555555592a0",
      "the first row in order",
    );
  }));

test("a million slices are counted, and forty are shown", () =>
  withPage(many(), {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    await page.locator("#slices .counts").getByText("1–40 of 1\u202f000\u202f000").waitFor();
    await page.getByText("1\u202f000\u202f000 slices, 2 violations").waitFor();
    assert.equal(await table(page).getByRole("row").count(), 41);
    assert.equal(await table(page).getAttribute("aria-rowcount"), "1000001");
    await page.getByRole("button", { name: "Next 40" }).click();
    await page.locator("#slices .counts").getByText("41–80 of").waitFor();
    await eventually(() => cell(page, 1, 0).textContent(), "queue = 0x26", "the first row of the next page");
  }));

test("a filter shows what matches, and how many that are", () =>
  withPage(many(), {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    await page.getByLabel("Filter").fill("overflow");
    await page
      .locator("#slices .counts")
      .getByText("1–2 of 2 that match, 1\u202f000\u202f000 in all")
      .waitFor();
    assert.equal(await table(page).getByRole("row").count(), 3);
    await page.getByLabel("Filter").fill("nothing has this");
    await page
      .locator("#slices .counts")
      .getByText(/^0 that match/)
      .waitFor();
  }));

test("a slice is chosen by keyboard alone, and its path asked for", () =>
  withPage(many(), {}, async ({ juror, page }) => {
    await show(juror, page, isRunning);
    await eventually(() => table(page).getByRole("row").count(), 41, "the rows");
    await page.getByLabel("Filter").focus();
    const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-rowindex"));
    for (let tabs = 0; tabs < 6 && (await focused()) === null; tabs += 1) await page.keyboard.press("Tab");
    assert.equal(await focused(), "2");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    assert.equal(await focused(), "3");
    await page.keyboard.press("Enter");
    await eventually(() => juror.chosen.length, 1, "the choice");
    assert.deepEqual(juror.chosen[0], {
      property: "queue_bounds",
      binding: [{ name: "queue", value: "0x81" }],
    });
    assert.equal(await table(page).getByRole("row").nth(2).getAttribute("aria-selected"), "true");
    await page.keyboard.press("PageDown");
    await page.locator("#slices .counts").getByText("41–80 of").waitFor();
    await page.keyboard.press("End");
    assert.equal(await focused(), "81");
  }));

test("the slice that has stopped the program is chosen", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    await eventually(() => juror.chosen.length, 1, "the choice");
    assert.deepEqual(juror.chosen[0].binding, [{ name: "queue", value: "0x5555555592e0" }]);
  }));

test("the path has events with values, and equal steps once with their number", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    const rows = page.getByRole("table", { name: "Path in queue_bounds" }).getByRole("row");
    await eventually(() => rows.count(), 9, "the steps");
    const texts = async (row) => rows.nth(row).getByRole("cell").allTextContents();
    assert.deepEqual((await texts(1)).slice(0, 5), [
      "init",
      "new(size = 12, queue = 0x5555555592e0)",
      "ready",
      "main.c:30",
      "1",
    ]);
    assert.deepEqual((await texts(3)).slice(0, 3), ["ready", "letter(queue = 0x5555555592e0) × 4", "ready"]);
    assert.deepEqual((await texts(8)).slice(0, 3), ["ready", "letter(queue = 0x5555555592e0)", "overflow"]);
  }));

test("the path of a violation is shown if the history is off", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    const stopped = juror.data.snapshots.find(isStopped);
    Object.assign(stopped.properties[0], { path: null, chosen: null, lit: null });
    await show(juror, page, isStopped);
    const rows = page.getByRole("table", { name: "Path in queue_bounds" }).getByRole("row");
    await eventually(() => rows.last().getByRole("cell").nth(2).textContent(), "overflow", "the last step");
    juror.send(
      changed(stopped, (copy) => {
        copy.status = "running";
      }),
    );
    await page.getByText("The history is off, so that there is no path.").waitFor();
  }));

test("the path says of which slice it is, or how to choose one", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    const running = await show(juror, page, (snapshot) => snapshot.properties[0].slice_count === 2);
    await page
      .locator("#path")
      .getByText(/^Slice queue = 0x5555555592e0\. /)
      .waitFor();
    assert.equal(
      await table(page).locator("[aria-selected=true]").getByRole("gridcell").first().textContent(),
      "queue = 0x5555555592e0",
    );
    juror.send(changed(running, (copy) => Object.assign(copy.properties[0], { path: null, chosen: null })));
    await page.getByText("Choose a slice to see how it came to its state.").waitFor();
  }));

test("rows that take long are asked for seldom, but at once by the user and at a stop", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    juror.delay = 300;
    const slices = () => juror.requests.filter((request) => request.endsWith("/api/slices")).length;
    juror.data.snapshots.find(isRunning).properties[0].slice_count = 0;
    let next = await show(juror, page, isRunning);
    assert.equal(slices(), 0);
    const sent = async (change) => {
      next = changed(next, change);
      juror.send(next);
      const text =
        next.properties[0].slice_count === 1 ? "1 slice" : `${next.properties[0].slice_count} slices`;
      await page.locator(".heading .counts").getByText(text, { exact: true }).waitFor();
    };
    for (let count = 1; count <= 8; count += 1) {
      await sent((copy) => Object.assign(copy.properties[0], { slice_count: count }));
      if (count === 1) await page.locator("#slices .counts").getByText("of 2").waitFor();
    }
    assert.equal(slices(), 1, "the other changes wait");
    await page.getByLabel("Filter").fill("ready");
    await eventually(slices, 2, "the user's request");
    await page.locator("#slices .counts").getByText("that match").waitFor();
    await sent((copy) => Object.assign(copy.properties[0], { slice_count: 9 }));
    assert.equal(slices(), 2, "the change waits");
    await sent((copy) => Object.assign(copy, { status: "stopped" }));
    await eventually(slices, 3, "the request of the stop");
  }));
