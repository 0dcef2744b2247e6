import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, eventually, isRunning, isStopped, noteWidths, show, stateOf, styles } from "./support.mjs";
import { withPage } from "./support.mjs";

const lit = (edge) => (snapshot) => Object.assign(snapshot.properties[0], { lit: [edge] });
const OUTLINE = ["stroke", "stroke-width", "stroke-dasharray"];

test("the state that a slice is in is outlined and labelled now", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    const [overflow, deleted] = [stateOf(page, "overflow"), stateOf(page, "deleted")];
    await eventually(() => overflow.locator(".tag-text").textContent(), "now · 1", "the label");
    const present = await styles(overflow.locator(".box").first(), OUTLINE);
    const other = await styles(deleted.locator(".box").first(), OUTLINE);
    assert.ok(Number.parseFloat(present["stroke-width"]) > 2 * Number.parseFloat(other["stroke-width"]));
    assert.notEqual(present.stroke, other.stroke);
    assert.equal(await deleted.locator(".tag").isVisible(), false);
    const label = await overflow.locator(".tag-text").boundingBox();
    assert.ok(label.width > 20 && label.height > 5, "the label has a size");
  }));

test("the picture says in words what it shows", () =>
  withPage("orders", {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    const image = page.getByRole("img", { name: /^Automaton of double_free/ });
    await eventually(
      () => image.getAttribute("aria-label"),
      /; now: allocated \(2 slices\), freed \(2 slices\), freed_again \(1 slice\)$/,
      "the words",
    );
    assert.equal(await stateOf(page, "init").locator(".tag").isVisible(), false);
  }));

test("a property without slices is in one state, which is labelled without a number", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    const [loaded] = juror.data.snapshots;
    Object.assign(loaded.properties[0], {
      slice_count: 0,
      states: [{ id: "state-1", state: "ready", slices: 1, current: true }],
    });
    await show(juror, page, () => true);
    await eventually(() => stateOf(page, "ready").locator(".tag-text").textContent(), "now", "the label");
    assert.equal(await page.locator(".counts").first().textContent(), "");
    juror.send(changed(loaded, (copy) => Object.assign(copy.properties[0], { states: [] })));
    await page.getByText("no slice yet").waitFor();
    assert.equal(await page.locator("g.state.now").count(), 0);
  }));

test("the table has the same states, marks and counts as the picture", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    await page.getByText("States as a table").click();
    const rows = page.getByRole("table", { name: "States of queue_bounds" }).getByRole("row");
    await eventually(() => rows.nth(3).textContent(), "overflowviolationnow1", "the row of overflow");
    assert.deepEqual(await rows.nth(2).locator("th, td").allTextContents(), [
      "ready",
      "accepting",
      "now",
      "1",
    ]);
    assert.deepEqual(await rows.nth(4).locator("th, td").allTextContents(), ["deleted", "final", "", "0"]);
  }));

test("states of other meanings differ in colour and in a word", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    await show(juror, page, isRunning);
    const violation = await styles(stateOf(page, "overflow").locator(".box").first(), ["fill", "stroke"]);
    const accepting = await styles(stateOf(page, "ready").locator(".box").first(), ["fill", "stroke"]);
    assert.notEqual(violation.stroke, accepting.stroke);
    assert.notEqual(violation.fill, accepting.fill);
    assert.equal(await stateOf(page, "overflow").locator(".word").textContent(), "violation");
  }));

test("a transition that is taken lights up, and goes out after a second", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    const loaded = await show(juror, page, () => true);
    const [taken, other] = [await noteWidths(page, "edge-2"), await noteWidths(page, "edge-5")];
    const start = performance.now();
    juror.send(changed(loaded, lit("edge-2")));
    await eventually(taken, "1.4,4,1.4", "the transition is thick for a time");
    assert.ok(performance.now() - start >= 900, "it was lit for a second");
    assert.equal(await other(), "1.4");
  }));

test("transitions of snapshots that come faster than frames light up, too", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    const loaded = await show(juror, page, () => true);
    const widths = [await noteWidths(page, "edge-5"), await noteWidths(page, "edge-2")];
    const second = changed(loaded, lit("edge-5"));
    juror.send(second);
    juror.send(changed(second, lit("edge-2")));
    for (const width of widths) await eventually(width, /^1\.4,4\b/, "the transition is lit");
  }));

test("a transition lights up without a motion", () =>
  withPage("queue", { reducedMotion: "reduce" }, async ({ juror, page }) => {
    const loaded = await show(juror, page, () => true);
    const widths = await noteWidths(page, "edge-0");
    juror.send(changed(loaded, lit("edge-0")));
    await eventually(widths, /^1\.4,4\b/, "the transition is lit");
    const line = page.locator('svg g.edge[data-id="edge-0"] .line');
    assert.deepEqual(await styles(line, ["transition-duration", "animation-name"]), {
      "transition-duration": "0s",
      "animation-name": "none",
    });
  }));

test("without history the page says why no transition lights up", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    const snapshot = await show(juror, page, isRunning);
    const note = page.getByText("The history is off: transitions do not light up.");
    assert.equal(await note.isVisible(), false);
    juror.send(changed(snapshot, (copy) => Object.assign(copy.properties[0], { lit: null })));
    await note.waitFor();
  }));

test("a state that lies outside of the frame is scrolled into it", () =>
  withPage("orders", {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    const frame = page.locator(".picture");
    const isInside = async () => {
      const [outer, inner] = [await frame.boundingBox(), await stateOf(page, "freed_again").boundingBox()];
      return (
        inner.x >= outer.x &&
        inner.x + inner.width <= outer.x + outer.width &&
        inner.y + inner.height <= outer.y + outer.height
      );
    };
    await eventually(isInside, true, "the state is seen");
    const width = async () => (await page.locator("svg.juror").boundingBox()).width;
    const before = await width();
    await page.getByRole("button", { name: "larger" }).click();
    assert.ok((await width()) > before);
    await page.getByRole("button", { name: "fit" }).click();
    assert.ok((await width()) <= (await frame.boundingBox()).width);
  }));

test("a drawing that holds anything but a drawing is not shown", async () => {
  const { fixture } = await import("./server.mjs");
  const whole = fixture("queue");
  const drawing = whole.static.properties[0].svg;
  const bad = {
    "an element `script`": drawing.replace("<g ", "<script>alert(1)</script><g "),
    "an attribute `onload`": drawing.replace("<g ", '<g onload="alert(1)" '),
    "an element `foreignObject`": drawing.replace(
      "<g ",
      '<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject><g ',
    ),
    "an element `image`": drawing.replace("<g ", '<image href="https://example.org/"/><g '),
    "not well-formed": drawing.replace("</g>", ""),
  };
  for (const [words, svg] of Object.entries(bad)) {
    whole.static.properties[0].svg = svg;
    // The policy of the page refuses a handler before the check does, and the browser's own style of an
    // error of the parser.
    await withPage(
      whole,
      { expected: /^(Executing inline event handler|Applying inline style) violates/ },
      async ({ page }) => {
        await page.getByText(`Not drawn: the drawing`).waitFor();
        assert.ok((await page.locator(".property").textContent()).includes(words), words);
        assert.equal(await page.locator("svg").count(), 0);
      },
    );
  }
});
