// The zoom of the time line: by keys and buttons, over juror and in a report.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fixture } from "./server.mjs";
import { changed, eventually, isStopped, show, withPage } from "./support.mjs";

const MARKS = 64;

/** Returns a fixture with one event of thread 1 each microsecond, from 1000 ns on; the last is violated. */
function timed() {
  const data = fixture("locks");
  const stopped = data.snapshots.find(isStopped);
  stopped.events = {
    total: MARKS,
    has_times: true,
    from_ns: 1000,
    to_ns: MARKS * 1000,
    window: null,
    buckets: Array.from({ length: MARKS }, (_, number) => ({
      thread: 1 + (number % 2),
      from_ns: (number + 1) * 1000,
      to_ns: (number + 1) * 1000 + 900,
      count: 1,
      verdict: number === MARKS - 1 ? "violated" : null,
    })),
  };
  return data;
}

const slider = (page) => page.getByRole("slider", { name: /^Time line/ });
const part = (page) => page.locator("#timeline .controls .note").textContent();
const mark = (page) => slider(page).getAttribute("aria-valuetext");
const counts = async (page) => {
  const rows = page.getByRole("table", { name: "Events by thread" }).locator("tbody tr");
  return (await rows.allTextContents()).length;
};

test("keys enlarge, move and show all of the time line; juror is asked for the marks", () =>
  withPage(timed(), {}, async ({ juror, page }) => {
    const stopped = await show(juror, page, isStopped);
    await slider(page).focus();
    await eventually(() => mark(page), /^Mark 64 of 64: thread 2, .*✗ violated/, "the last mark");
    assert.equal(await part(page), "");
    await page.keyboard.press("+");
    await eventually(() => part(page), "Shown: 32.500 µs to 64.000 µs, of 1.000 µs to 64.000 µs", "the part");
    await eventually(() => mark(page), /^Mark 33 of 33: thread 2, .*✗ violated/, "the mark stays chosen");
    await eventually(() => juror.zoomed.length, 1, "juror is asked");
    assert.deepEqual(juror.zoomed[0], { from_ns: 32_500, to_ns: 64_000 });
    // juror has more marks of this part.
    const finer = changed(stopped, (copy) => {
      copy.events.window = juror.zoomed[0];
      copy.events.buckets = copy.events.buckets
        .filter((it) => it.from_ns >= 32_500)
        .flatMap((it) => [it, { ...it, from_ns: it.from_ns + 950, to_ns: it.from_ns + 990 }]);
    });
    juror.send(finer);
    await eventually(() => mark(page), /^Mark 63 of 63: thread 2, /, "the finer marks");
    assert.match(await mark(page), /✗ violated/);
    await page.keyboard.press("Home");
    await eventually(() => mark(page), /^Mark 1 of 63: thread 1, 33\.000 µs/, "the first mark of the part");
    await page.keyboard.press("ArrowLeft");
    await eventually(() => part(page), /^Shown: 16\.750 µs to 48\.250 µs/, "the part moves at its edge");
    await eventually(() => juror.zoomed.length, 2, "juror is asked");
    await page.keyboard.press("-");
    await eventually(() => part(page), "", "all is shown");
    await eventually(() => juror.zoomed.at(-1), null, "juror is told");
  }));

test("buttons enlarge around the mark that was chosen, down to one event", () =>
  withPage(timed(), {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    const zoom = page.getByRole("group", { name: "Zoom of the time line" });
    const [larger, smaller, all] = await zoom.getByRole("button").all();
    assert.equal(await smaller.getAttribute("aria-disabled"), "true");
    await slider(page).focus();
    await page.keyboard.press("Home");
    for (let press = 0; press < 6; press += 1) await larger.click();
    await eventually(() => part(page), /^Shown: 1\.\d+ µs to 2\.\d+ µs, of/, "the first events");
    assert.match(await mark(page), /^Mark 1 of [12]: thread 1, 1\.000 µs/);
    assert.equal((await counts(page)) <= 2, true, "the table is about the part");
    for (let press = 0; press < 40; press += 1) await page.keyboard.press("+");
    await smaller.click();
    assert.notEqual(await part(page), "");
    await all.click();
    await eventually(() => part(page), "", "all is shown");
    assert.equal(await all.getAttribute("aria-disabled"), "true");
  }));

test("the part that is shown is announced, and another browser's choice is taken", () =>
  withPage(timed(), {}, async ({ juror, page }) => {
    const stopped = await show(juror, page, isStopped);
    juror.send(
      changed(stopped, (copy) => {
        copy.events.window = { from_ns: 10_000, to_ns: 20_000 };
        copy.events.buckets = [];
      }),
    );
    await eventually(() => part(page), /^Shown: 10\.000 µs to 20\.000 µs/, "the part");
    await eventually(() => mark(page), "No event is in this part.", "an empty part");
    await eventually(
      () => page.locator("#announcements").textContent(),
      /Shown: 10\.000 µs/,
      "the announcement",
    );
    await slider(page).focus();
    await page.keyboard.press("0");
    await eventually(() => juror.zoomed.at(-1), null, "juror is asked for all");
  }));
