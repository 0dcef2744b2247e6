import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, eventually, isRunning, isStopped, show, styles, withPage } from "./support.mjs";

test("a violation is told at the top, word for word as the prompt tells it", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    const stopped = await show(juror, page, isStopped);
    const report = page.getByRole("region", { name: "✗ Violated: queue_bounds" });
    await report.waitFor();
    assert.equal(await report.locator("pre").textContent(), stopped.stop_text);
    const place = await report.boundingBox();
    assert.ok(place.y < 120, "it is the first part of the page");
    assert.match(
      await page.locator("#status").textContent(),
      /stopped: a property is violated, at queue\.c:18$/,
    );
    const ended = juror.data.snapshots.find(({ status }) => status === "ended");
    juror.send(ended);
    await eventually(() => page.locator("#status").textContent(), /^● ended/, "the status");
    assert.equal(await report.locator("pre").textContent(), ended.end_text);
  }));

test("the source has the line, and a frame its own lines", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    const current = page.locator("#source [aria-current=location]");
    await eventually(() => current.textContent(), "→ 18{", "the line");
    const [here, other] = [
      await styles(current, ["background-color"]),
      await styles(page.locator("#source li").first(), ["background-color"]),
    ];
    assert.notDeepEqual(here, other);
    const frame = page.getByRole("button", { name: /^#1 sort_text/ });
    await frame.focus();
    await page.keyboard.press("Enter");
    await eventually(() => frame.getAttribute("aria-current"), "true", "the frame is chosen");
    assert.deepEqual(juror.commands, [{ line: "frame 1" }]);
    assert.equal(await page.getByLabel("Chosen frame").textContent(), juror.data.answers["frame 1"].text);
    assert.equal(await page.locator("#source .lines").isVisible(), false);
  }));

test("the tokens of the source have colours, and its text is as before", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    const { source } = juror.data.snapshots.find(isStopped).stop;
    source.tokens = source.lines.map((line) =>
      line === "" ? [] : [["keyword", line.slice(0, 3)], [null, line.slice(3)]].filter(([, text]) => text),
    );
    await show(juror, page, isStopped);
    await page.locator("#source .lines").waitFor();
    assert.deepEqual(await page.locator("#source code").allTextContents(), source.lines);
    const [token, line] = [
      await styles(page.locator("#source [data-kind=keyword]").first(), ["color"]),
      await styles(page.locator("#source code").first(), ["color"]),
    ];
    assert.notDeepEqual(token, line);
  }));

test("source and stack are those of a stop, and gone while the program runs", () =>
  withPage("orders", {}, async ({ juror, page }) => {
    const stopped = await show(juror, page, isStopped);
    await page.getByText("orders.c, frame 1").waitFor();
    assert.match(
      await page.locator("#status").textContent(),
      /at orders\.c:23$/,
      "the place is not that of the library",
    );
    juror.send(
      changed(stopped, (copy) => {
        copy.status = "running";
      }),
    );
    for (const id of ["report", "source", "stack"]) await page.locator(`#${id}`).waitFor({ state: "hidden" });
  }));

test("a stop that its source says all about has no report", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    const stopped = juror.data.snapshots.find(isStopped);
    stopped.stop.reason = "step";
    stopped.stop.violations = [];
    await show(juror, page, isStopped);
    await page.locator("#source .lines").waitFor();
    assert.equal(await page.locator("#report").isVisible(), false);
    juror.send(
      changed(stopped, (copy) => {
        copy.stop.source = null;
      }),
    );
    await page.locator("#report").waitFor();
  }));

test("a checkpoint is restored by its button", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    const stopped = juror.data.snapshots.find(isStopped);
    const { location } = stopped.stop;
    stopped.checkpoints = [
      { number: 1, alive: true, events: 27, location },
      { number: 2, alive: false, events: 28, location },
    ];
    await show(juror, page, isStopped);
    await page.getByRole("button", { name: "restore 1" }).click();
    await eventually(() => juror.commands.length, 1, "the command");
    assert.deepEqual(juror.commands, [{ line: "restore 1" }]);
    assert.equal(await page.getByRole("button", { name: "restore 2" }).getAttribute("aria-disabled"), "true");
  }));

test("the threads are shown", () =>
  withPage("locks", {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    const rows = page.getByRole("table", { name: "Threads" }).getByRole("row");
    await eventually(
      () => rows.filter({ hasText: "→ 3" }).textContent(),
      /move at main\.c:38$/,
      "the thread",
    );
  }));

test("changes are announced, once a second at most", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    const running = await show(juror, page, isRunning);
    const region = page.locator("#announcements");
    assert.equal(await region.getAttribute("aria-live"), "polite");
    await eventually(
      () => region.textContent(),
      /running.*queue_bounds: presumably satisfied/,
      "the first message",
    );
    await region.evaluate((element) => {
      window.messages = [];
      new MutationObserver(() => window.messages.push([performance.now(), element.textContent])).observe(
        element,
        { childList: true, characterData: true, subtree: true },
      );
    });
    // The last of many changes within a second is what is told.
    for (let step = 1; step <= 30; step += 1) {
      const status = step % 2 === 0 ? "running" : "loaded";
      juror.send({ ...running, sequence: running.sequence + step, status });
      if (step % 10 === 0)
        await eventually(() => page.locator("#status").textContent(), "▶ running", "the status");
    }
    juror.send({ ...juror.data.snapshots.find(isStopped), sequence: running.sequence + 40 });
    await eventually(
      () => region.textContent(),
      /stopped: a property is violated.*queue_bounds: violated/,
      "the last message",
    );
    const messages = await page.evaluate(() => window.messages);
    messages.forEach(([time], position) => {
      if (position > 0)
        assert.ok(time - messages[position - 1][0] >= 900, "a second lies between two messages");
    });
  }));
