// The page over juror itself, JUROR_EXECUTABLE: the same page, but nothing is played.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { juror, withJuror, work } from "./juror.mjs";
import { eventually, stateOf, withAddress } from "./support.mjs";

const status = (page) => page.locator("#status").textContent();

async function command(page, line) {
  const answers = page.locator(".answers pre");
  const before = await answers.count();
  await page.getByLabel("Command", { exact: true }).fill(line);
  await page.keyboard.press("Enter");
  await eventually(() => answers.count(), before + 1, "the answer is listed");
  await eventually(() => answers.last().textContent(), /^(?!…$)/, "the answer");
  return answers.last().textContent();
}

test("a violation: report, state, slices, path, stack, and the answers of the prompt", () =>
  withJuror(["run", "--web", "--property", "queue.prop", "./queue"], {}, async (page) => {
    await eventually(() => status(page), "■ stopped: a property is violated, at queue.c:18", "the stop");
    await eventually(
      () => stateOf(page, "overflow").locator(".tag-text").textContent(),
      "now · 1",
      "the present state",
    );
    const first = page.getByRole("grid", { name: "Slices" }).getByRole("row").nth(1);
    await eventually(() => first.getAttribute("aria-selected"), "true", "the violated slice is chosen");
    assert.match(await first.textContent(), /overflow✗ violatedroom = 12, letters = 12, digits = 3$/);
    const steps = page.getByRole("table", { name: "Path in queue_bounds" }).getByRole("row");
    await eventually(() => steps.count(), 9, "the path");
    const lines = ["backtrace", "info monitors", "print queue->letter_count", "print nothing"];
    const prompt = spawnSync(juror, ["run", "--color", "never", "--property", "queue.prop", "./queue"], {
      cwd: work,
      input: `${lines.join("\n")}\nquit\n`,
      encoding: "utf8",
    });
    const both = prompt.stdout.split(/^\(juror\) .*\n/m);
    for (const [position, line] of lines.slice(0, 3).entries()) {
      assert.equal(await command(page, line), both[position + 1].trimEnd(), line);
    }
    assert.match(await command(page, lines[3]), /^✗ failed: .*there is no `nothing` here/);
    await page.getByRole("button", { name: /^#1 sort_text/ }).click();
    await eventually(() => page.getByLabel("Chosen frame").textContent(), /^#1 {2}sort_text/, "the frame");
  }));

test("a step, a checkpoint, a restore, and the end", () =>
  withJuror(["run", "--web", "--property", "queue.prop", "./queue"], {}, async (page) => {
    await eventually(() => status(page), /stopped/, "the stop");
    await page.getByRole("button", { name: /^checkpoint/ }).click();
    const restore = page.getByRole("button", { name: "restore 1" });
    await restore.waitFor();
    await page.locator("#main").focus();
    await page.keyboard.press("n");
    await eventually(() => status(page), /the step is done, at queue\.c:19$/, "the step");
    await restore.click();
    await eventually(() => status(page), /at queue\.c:18$/, "the restored place");
    await page.keyboard.press("c");
    await eventually(() => status(page), /^● ended: exit status 0$/, "the end");
    await page.getByRole("region", { name: "✗ Violated: queue_bounds" }).waitFor();
  }));

test("a running program is followed and interrupted", () =>
  withJuror(["run", "--web", "--property", "ticks.prop", "./endless"], {}, async (page) => {
    await eventually(() => status(page), "▶ running", "it runs");
    await eventually(() => page.locator("g.edge.lit").count(), 2, "both transitions are lit");
    const total = async () =>
      Number((await page.locator("#timeline-heading").textContent()).replace(/\D/g, ""));
    const before = await total();
    await eventually(async () => (await total()) > before, true, "events are counted");
    await page.keyboard.press("i");
    await eventually(() => status(page), /^■ stopped: interrupted/, "the interruption");
    const line = page.getByRole("slider", { name: /^Time line/ });
    const valueText = () => line.getAttribute("aria-valuetext");
    await line.focus();
    for (let press = 0; press < 20; press += 1) await page.keyboard.press("+");
    const part = page.locator("#timeline .controls .note");
    await eventually(() => part.textContent(), /^Shown: event [\d\u202f]+ to event [\d\u202f]+, of/, "the part");
    await eventually(valueText, /^Mark [12] of [12]: thread 1, event .*, 1 event$/, "single events");
    await page.keyboard.press("0");
    await eventually(() => part.textContent(), "", "all is shown");
  }));

test("a recording goes back", async () => {
  spawnSync(juror, ["run", "--batch", "--trace", "run.jsonl", "--property", "queue.prop", "./queue"], {
    cwd: work,
  });
  await withJuror(["replay", "--web", "--property", "queue.prop", "run.jsonl"], {}, async (page) => {
    await eventually(() => status(page), /stopped: a property is violated/, "the stop");
    await eventually(
      () => stateOf(page, "overflow").locator(".tag-text").textContent(),
      "now · 1",
      "the present state",
    );
    await page.getByRole("button", { name: /^reverse-step/ }).click();
    await eventually(() => page.locator("g.state.now").count(), 1, "the state before");
    assert.equal(await stateOf(page, "overflow").locator(".tag").isVisible(), false);
  });
});

test("the run of a model that violates is a chart", () =>
  withJuror(["model", "check", "--web", "handover.pml"], {}, async (page) => {
    const rows = page.getByRole("grid", { name: "Sequence chart" }).getByRole("row");
    await eventually(() => rows.count(), 12, "the steps");
    await rows.nth(2).click();
    await page.getByText("State after step 2").waitFor();
    assert.equal(await status(page), "✗ violated: steps and states");
    assert.match(await page.locator("#report-text").textContent(), /deadlock: [^]*handover\.pml:/);
  }));

test("a report of a model that holds is written, and says so", async () => {
  writeFileSync(join(work, "holds.pml"), "byte n;\nltl low { [] (n < 2) }\nactive proctype p() { n = 1 }\n");
  spawnSync(juror, ["model", "check", "--web=holds.html", "holds.pml"], { cwd: work });
  await withAddress(pathToFileURL(join(work, "holds.html")).href, {}, async ({ page }) => {
    await eventually(() => status(page), "✓ the model holds", "the status");
    const rows = page.getByRole("table", { name: "Questions" }).getByRole("row");
    assert.equal(await rows.count(), 3);
  });
});

test("a report is the same page in a file", async () => {
  spawnSync(juror, ["run", "--batch", "--web=report.html", "--property", "queue.prop", "./queue"], {
    cwd: work,
  });
  await withAddress(pathToFileURL(join(work, "report.html")).href, {}, async ({ page, requests }) => {
    await page.getByRole("region", { name: "✗ Violated: queue_bounds" }).waitFor();
    await eventually(
      () => stateOf(page, "overflow").locator(".tag-text").textContent(),
      "now · 1",
      "the present state",
    );
    assert.equal(await page.getByRole("grid", { name: "Slices" }).getByRole("row").count(), 2);
    assert.equal(requests.filter((address) => !address.startsWith("data:")).length, 1);
  });
});
