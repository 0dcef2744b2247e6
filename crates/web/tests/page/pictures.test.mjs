// The pictures of the README and the book: a violation, in both schemes. What they show is there; with
// JUROR_UPDATE=1 they are written anew.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { withJuror } from "./juror.mjs";
import { eventually, stateOf } from "./support.mjs";

const images = join(dirname(fileURLToPath(import.meta.url)), "../../../../book/src/images");
const BYTES_MAX = 300 << 10;
const SIZE = { width: 1280, height: 1100 };
const NAMES = { light: "page.png", dark: "page-dark.png" };

/** Asserts that the whole of an element is in the picture. */
async function isSeen(locator, what) {
  const { x, y, width, height } = await locator.boundingBox();
  const isInside = x >= 0 && y >= 0 && x + width <= SIZE.width && y + height <= SIZE.height;
  assert.ok(isInside, `${what} is in the picture`);
}

for (const [colorScheme, name] of Object.entries(NAMES)) {
  test(`the picture of the page in ${colorScheme}`, () =>
    withJuror(
      ["run", "--web", "--property", "queue.prop", "./queue"],
      { viewport: SIZE, colorScheme },
      async (page) => {
        const chosen = page.locator("#slices tbody tr[aria-selected=true]");
        await eventually(() => chosen.count(), 1, "the violated slice is chosen");
        await eventually(() => page.locator("g.edge.lit").count(), 0, "no transition is lit");
        await isSeen(page.getByRole("region", { name: "✗ Violated: queue_bounds" }), "the report");
        for (const state of ["init", "ready", "overflow", "deleted"])
          await isSeen(stateOf(page, state), `the state ${state}`);
        assert.match(await stateOf(page, "overflow").textContent(), /now · 1/);
        assert.match(await chosen.textContent(), /overflow✗ violated/);
        await isSeen(chosen, "the violated slice");
        await isSeen(page.locator("#source [aria-current=location]"), "the line of the source");
        await isSeen(page.getByRole("button", { name: /^#2 main/ }), "the stack");
        await isSeen(page.getByRole("button", { name: "Execute" }), "the prompt");
        const picture = await page.screenshot();
        assert.ok(picture.length <= BYTES_MAX, `the picture has ${picture.length} bytes`);
        if (process.env.JUROR_UPDATE === "1") writeFileSync(join(images, name), picture);
      },
    ));
}
