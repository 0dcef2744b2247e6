import assert from "node:assert/strict";
import { test } from "node:test";
import { fixture } from "./server.mjs";
import { eventually, isStopped, show, withPage } from "./support.mjs";

const chart = (page) => page.getByRole("grid", { name: "Sequence chart" });
const cells = (page, row) => chart(page).getByRole("row").nth(row).locator("th, td").allTextContents();

test("each step of a model is in the lane of its process, a message is an arrow to the other", () =>
  withPage("handover", {}, async ({ juror, page }) => {
    await chart(page).waitFor();
    assert.deepEqual(await cells(page, 0), ["Step", "sender 0", "clerk 1", "Changes"]);
    assert.deepEqual(await cells(page, 2), [
      "2",
      "parcel!number → parcel?number",
      "▶ takes it",
      "clerk(1):number = 1",
    ]);
    assert.deepEqual(await cells(page, 5), ["5", "takes it ◀", "receipt!number → receipt?_", ""]);
    const [from, to] = await Promise.all(
      [1, 2].map((cell) =>
        chart(page)
          .getByRole("row")
          .nth(2)
          .locator("th, td")
          .nth(cell)
          .evaluate((element) => getComputedStyle(element).backgroundImage),
      ),
    );
    assert.equal(from.match(/linear-gradient/g).length, 2, "the arrow is drawn beside the lane");
    assert.equal(to.match(/linear-gradient/g).length, 2);
    assert.ok(!juror.requests.some((request) => request.includes("/api/stream")), "a model sends nothing");
    assert.equal(await page.locator("#toolbar").isVisible(), false);
  }));

test("the page of a model says which question is violated, why, and what was not checked", () =>
  withPage("handover", {}, async ({ page }) => {
    const questions = page.getByRole("table", { name: "Questions" }).getByRole("row");
    await eventually(() => page.locator("#status").textContent(), "✗ violated: steps and states", "the status");
    await page.getByRole("region", { name: "✗ Violated: steps and states" }).waitFor();
    assert.match(await page.locator("#report-text").textContent(), /^error: deadlock: /);
    assert.equal(await questions.count(), 3);
    const texts = await questions.nth(1).locator("th, td").allTextContents();
    assert.match(texts[0], /^steps and states.*deadlocks$/);
    assert.match(texts[1], /^✗ violateddeadlock: no process can continue/);
    assert.equal(texts[2], "13 states, 14 transitions, depth 12");
    assert.match(await questions.nth(2).textContent(), /^the formula stored– not checked.*first violation$/);
  }));

test("the page of a model that holds says so", () => {
  const data = fixture("handover");
  data.static.chart = null;
  data.static.questions = [
    { question: "steps and states", about: "assertions", verdict: "holds", searched: "4 states" },
    { question: "the formula live", about: "<> <b>done</b>", verdict: "holds", searched: "9 states" },
  ];
  return withPage(data, {}, async ({ page }) => {
    await eventually(() => page.locator("#status").textContent(), "✓ the model holds", "the status");
    await page.getByText("<> <b>done</b>").waitFor();
    assert.equal(await page.locator("#report").isVisible(), false);
    assert.equal(await page.locator("#chart").isVisible(), false);
    data.static.questions[1] = { question: "the formula live", verdict: "incomplete", why: "too many" };
    await page.reload();
    await eventually(
      () => page.locator("#status").textContent(),
      "! incomplete: the formula live",
      "the status",
    );
  });
});

test("a step that is chosen, by pointer or key, shows the state after it", () =>
  withPage("handover", {}, async ({ page }) => {
    await chart(page).getByRole("row").nth(2).click();
    const state = page.getByRole("table", { name: "State after the chosen step" });
    await page.getByText("State after step 2: parcel!number → parcel?number").waitFor();
    assert.deepEqual(await state.getByRole("row").nth(1).locator("th, td").allTextContents(), [
      "clerk(1):number",
      "1",
      "by this step",
    ]);
    await page.keyboard.press("End");
    await page.getByText("State after step 11").waitFor();
    const rows = await state
      .locator("tbody tr")
      .evaluateAll((all) => all.map((row) => [...row.children].map((it) => it.textContent)));
    assert.deepEqual(rows, [
      ["clerk(1):number", "2", ""],
      ["stored", "2", ""],
      ["sender(0):number", "2", ""],
    ]);
    await page.keyboard.press("ArrowUp");
    await page.getByText("State after step 10").waitFor();
  }));

test("a message passes the lanes between its processes, and a cycle is marked by a word", () => {
  const data = fixture("handover");
  data.static.chart.columns = ["a 0", "b 1", "c 2", "d 3"];
  data.static.chart.rows = [
    { column: 3, partner: 0, text: "m!1", changes: [], printed: "", begins_cycle: false },
    {
      column: 1,
      partner: null,
      text: "skip",
      changes: ["x = a = b"],
      printed: "hello\n",
      begins_cycle: true,
    },
  ];
  return withPage(data, {}, async ({ page }) => {
    await chart(page).waitFor();
    assert.deepEqual(await cells(page, 1), ["1", "takes it ◀", "", "", "m!1", ""]);
    const passes = chart(page).getByRole("row").nth(1).locator("td.passes");
    assert.equal(await passes.count(), 2);
    assert.deepEqual(await cells(page, 2), [
      "2 ↻ the run repeats from here",
      "",
      "skip",
      "",
      "",
      "x = a = b, prints hello\u240a",
    ]);
    await chart(page).getByRole("row").nth(2).click();
    await page.getByRole("table", { name: "State after the chosen step" }).getByText("a = b").waitFor();
  });
});

test("the time line has a lane for each thread, and a mark is read by keyboard", () =>
  withPage("locks", {}, async ({ juror, page }) => {
    const stopped = await show(juror, page, isStopped);
    const slider = page.getByRole("slider", { name: /^Time line/ });
    const { buckets } = stopped.events;
    await eventually(
      () => slider.getAttribute("aria-valuetext"),
      new RegExp(`^Mark ${buckets.length} of ${buckets.length}: thread 3, .* 1 event, ✗ violated$`),
      "the last mark",
    );
    await slider.focus();
    await page.keyboard.press("Home");
    await eventually(
      () => slider.getAttribute("aria-valuetext"),
      /^Mark 1 of \d+: thread 1, /,
      "the first mark",
    );
    const rows = page.getByRole("table", { name: "Events by thread" }).getByRole("row");
    const counted = (thread) => buckets.filter((bucket) => bucket.thread === thread).length;
    for (const thread of [1, 2, 3]) {
      const texts = await rows.nth(thread).locator("th, td").allTextContents();
      assert.deepEqual(texts.slice(0, 3), [
        `thread ${thread}`,
        String(counted(thread)),
        thread === 3 ? "1" : "0",
      ]);
    }
    await page.getByText("Each mark as a table").click();
    const marks = page.getByRole("table", { name: "Marks of the time line" }).getByRole("row");
    await eventually(() => marks.count(), buckets.length + 1, "the marks");
    assert.equal(await marks.last().getByRole("cell").last().textContent(), "✗ violated");
  }));

test("a violation on the time line has another colour than the other events", () =>
  withPage("locks", {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    await page.locator("#timeline canvas").waitFor();
    const colours = () =>
      page.locator("#timeline canvas").evaluate((canvas) => {
        const style = getComputedStyle(document.documentElement);
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const count = (name) => {
          const [red, green, blue] = style
            .getPropertyValue(name)
            .match(/\w\w/g)
            .map((part) => Number.parseInt(part, 16));
          let found = 0;
          for (let at = 0; at < data.length; at += 4)
            if (data[at] === red && data[at + 1] === green && data[at + 2] === blue && data[at + 3] === 255)
              found += 1;
          return found;
        };
        return [count("--accent"), count("--bad")];
      });
    await eventually(
      async () => (await colours()).every((count) => count > 100),
      true,
      "both colours are drawn",
    );
  }));
