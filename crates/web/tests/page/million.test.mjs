// The page over a run with a million slices, by juror itself: what it shows and changes is asserted; the
// times of frames and of answers are measured and told, since they depend on the machine.

import assert from "node:assert/strict";
import { test } from "node:test";
import { withJuror } from "./juror.mjs";
import { eventually } from "./support.mjs";

const SECONDS = 3;
const COUNT = /1\u202f000\u202f000/;

/** Begins to note frames, long tasks, snapshots and changes of the document. */
function observe(page) {
  return page.evaluate(() => {
    const seen = { frames: [], tasks: [], snapshots: 0, changes: 0, times: [] };
    window.seen = seen;
    new PerformanceObserver((list) => seen.tasks.push(...list.getEntries().map((it) => it.duration))).observe({
      type: "longtask",
    });
    new MutationObserver((records) => {
      seen.changes += records.length;
    }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    const { parse } = JSON;
    JSON.parse = (text) => {
      const value = parse(text);
      if (typeof value?.sequence === "number") seen.snapshots += 1;
      return value;
    };
    let last = performance.now();
    const step = (now) => {
      seen.frames.push(now - last);
      last = now;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
}

test("a million slices are counted, listed and filtered while the program runs", (context) =>
  withJuror(["run", "--web", "--property", "million.prop", "./million"], {}, async (page) => {
    const counts = page.locator("#slices .counts");
    await eventually(() => counts.textContent(), COUNT, "all slices are there");
    assert.equal(await page.locator("#slices tbody tr").count(), 40);
    assert.match(await page.locator("#properties").textContent(), COUNT);
    await observe(page);
    const enough = (frames) => window.seen.frames.length >= frames && window.seen.snapshots >= 2;
    await page.waitForFunction(enough, SECONDS * 60);
    const { frames, tasks, snapshots, changes } = await page.evaluate(() => window.seen);
    // Forty rows, the states in picture and table, the heading, and the time line.
    const perSnapshot = changes / snapshots;
    assert.ok(perSnapshot < 400, `${perSnapshot} changes for each snapshot`);
    frames.sort((a, b) => a - b);
    const part = (share) => frames[Math.floor(frames.length * share)].toFixed(1);
    context.diagnostic(
      `${snapshots} snapshots, ${perSnapshot.toFixed(0)} changes each; frames: median ${part(0.5)} ms, 95 % ${part(0.95)} ms, longest ${frames.at(-1).toFixed(1)} ms; ${tasks.length} tasks over 50 ms`,
    );
    const before = performance.now();
    await page.getByLabel("Filter").fill("999999");
    await eventually(() => counts.textContent(), /^1–1 of 1 that match/, "one slice matches");
    context.diagnostic(`a filter is answered after ${(performance.now() - before).toFixed(0)} ms`);
    await page.locator("#slices tbody tr").click();
    await page.getByText("Slice object = 999999").waitFor();
  }));
