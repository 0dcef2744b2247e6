// Names and values that the program or a file makes up are shown as they are, and nothing else happens.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fixture } from "./server.mjs";
import { eventually, isStopped, show, withPage } from "./support.mjs";

const MARKUP = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
const REVERSED = "abc\u202Efed\u2066";
const CONTROL = "bell\u0007 null\u0000 escape\u001b[31m\u0085";

function hostile() {
  const data = fixture("queue");
  const property = data.static.properties[0];
  const name = property.name;
  Object.assign(property, { name: MARKUP, description: `${REVERSED} ${MARKUP}`, source: MARKUP });
  property.states[1].state = REVERSED;
  Object.assign(data.static, { program: MARKUP, arguments: [REVERSED], version: MARKUP });
  data.slices = { [MARKUP]: data.slices[name] };
  const row = data.slices[MARKUP][0];
  Object.assign(row, {
    binding: [{ name: MARKUP, value: CONTROL }],
    state: MARKUP,
    variables: [{ name: REVERSED, value: MARKUP }],
  });
  data.answers[MARKUP] = { text: `${MARKUP}\n${CONTROL}`, failed: false };
  const snapshot = data.snapshots.find(isStopped);
  const now = snapshot.properties[0];
  Object.assign(now, { name: MARKUP });
  now.states[0].state = REVERSED;
  now.chosen = { binding: [{ name: MARKUP, value: CONTROL }], state: MARKUP, forgotten: true };
  Object.assign(now.path[0], { event: MARKUP, from: REVERSED, values: [{ name: "v", value: CONTROL }] });
  Object.assign(snapshot, { stop_text: `${MARKUP}\n${CONTROL}` });
  Object.assign(snapshot.threads[0], { name: MARKUP });
  snapshot.stop.source.lines[0] = MARKUP;
  Object.assign(snapshot.stop.backtrace[0].location, { function: MARKUP, file: `/a/${REVERSED}.c` });
  snapshot.stop.backtrace[0].arguments = [{ name: REVERSED, value: MARKUP }];
  snapshot.stop.violations[0].property = MARKUP;
  snapshot.stop.displays = [{ expression: MARKUP, value: CONTROL, error: null }];
  return data;
}

test("markup, marks of direction and control characters are text", () =>
  withPage(hostile(), {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    await page.getByLabel("Command", { exact: true }).fill(MARKUP);
    await page.keyboard.press("Enter");
    await eventually(() => page.locator("#prompt pre").last().textContent(), /^<img src=x/, "the answer");
    await eventually(() => page.locator("#slices tbody tr").count(), 2, "the slices");
    for (const id of [
      "program",
      "version",
      "verdicts",
      "report-text",
      "slices",
      "path",
      "stack",
      "source",
      "threads",
      "properties",
    ]) {
      assert.ok(
        (await page.locator(`#${id}`).textContent()).includes('<img src=x onerror="alert(1)">'),
        `${id} shows the markup`,
      );
    }
    assert.equal(await page.locator("body img, body script, body iframe").count(), 0);
    const text = await page.evaluate(() => document.documentElement.outerHTML);
    assert.doesNotMatch(text, /[\u202a-\u202e\u2066-\u2069]/, "no mark of direction is obeyed");
    assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u0080-\u009f]/, "no control character is left");
    const row = await page.locator("#slices").textContent();
    assert.ok(row.includes("bell\u2407 null\u2400 escape\u241b[31m\\u{85}"), "control characters are seen");
    assert.ok(row.includes("abc\\u{202e}fed\\u{2066}"), "marks of direction are seen");
  }));

test("what is missing or of another kind leaves the rest of the page as it is", async () => {
  const data = fixture("queue");
  const snapshot = data.snapshots.find(isStopped);
  Object.assign(snapshot, { threads: null, checkpoints: null, events: null, stop_text: null });
  snapshot.stop = { reason: "a_new_reason", location: null };
  Object.assign(snapshot.properties[0], { states: null, path: null, lit: null });
  await withPage(data, {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    await eventually(() => page.locator("#status").textContent(), "■ stopped: a new reason", "the status");
    await page.getByText("2 slices, 1 violation").waitFor();
  });
});
