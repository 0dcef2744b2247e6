// The look of the page: contrast and structure by axe, in both schemes, and pictures.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { eventually, isStopped, moduleFile, picture, show, withPage } from "./support.mjs";

const axe = readFileSync(moduleFile("axe-core/axe.min.js"), "utf8");

async function complaints(page) {
  // The policy of the page forbids a script of its own; the debugger of the browser may add one.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document));
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .slice(0, 3)
        .map(({ target, failureSummary }) => `${target.join(" ")} ${failureSummary}`)
        .join("; ")}`,
  );
}

for (const colorScheme of ["light", "dark"]) {
  for (const name of ["queue", "locks", "orders"]) {
    test(`${name} is accessible in ${colorScheme}`, () =>
      withPage(name, { colorScheme }, async ({ juror, page }) => {
        await show(juror, page, isStopped);
        await eventually(
          () => page.locator("#slices tbody tr[aria-selected=true]").count(),
          1,
          "the chosen slice",
        );
        for (const summary of await page.locator("summary").all()) await summary.click();
        await page.locator("#line").fill(name === "queue" ? "print nothing" : "backtrace");
        await page.keyboard.press("Enter");
        await eventually(() => page.locator(".answers pre").last().textContent(), /./, "the answer");
        assert.deepEqual(await complaints(page), []);
      }));

    test(`a violation in ${name} is pictured in ${colorScheme}`, () =>
      withPage(name, { colorScheme }, async ({ juror, page }) => {
        await show(juror, page, isStopped);
        await eventually(
          () => page.locator("#slices tbody tr[aria-selected=true]").count(),
          1,
          "the chosen slice",
        );
        await eventually(() => page.locator("g.edge.lit").count(), 0, "no transition is lit");
        await picture(page, `${name}-${colorScheme}`);
      }));
  }

  test(`the chart of a model is accessible in ${colorScheme}`, () =>
    withPage("handover", { colorScheme }, async ({ page }) => {
      await page.getByRole("grid", { name: "Sequence chart" }).getByRole("row").nth(3).click();
      assert.deepEqual(await complaints(page), []);
      await picture(page, `model-${colorScheme}`);
    }));

  test(`the page without its key is accessible in ${colorScheme}`, () =>
    withPage(
      "queue",
      { colorScheme, address: ({ origin }) => origin, expected: /status of 401/ },
      async ({ page }) => {
        await page.locator("#notice").waitFor();
        assert.deepEqual(await complaints(page), []);
      },
    ));
}

test("a narrow window has one column and does not scroll sideways", () =>
  withPage("orders", { viewport: { width: 420, height: 800 } }, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    const [source, properties] = [
      await page.locator("#source").boundingBox(),
      await page.locator("#properties").boundingBox(),
    ];
    assert.ok(source.y >= properties.y + properties.height);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  }));

test("the focus is seen", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    const seen = await page.evaluate(() => document.activeElement.getBoundingClientRect().top >= 0);
    assert.equal(seen, true, "the link comes into view");
    await page.keyboard.press("Tab");
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineWidth);
    assert.equal(outline, "3px");
  }));

test("all that can be done is reached by the tabulator key", () =>
  withPage("orders", {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    await eventually(() => page.locator("#slices tbody tr").count(), 5, "the slices");
    const seen = [];
    const focused = () =>
      page.evaluate(() => {
        const element = document.activeElement;
        return element.getAttribute("aria-label") ?? (element.textContent.trim() || element.id);
      });
    do {
      await page.keyboard.press("Tab");
      seen.push(await focused());
    } while (seen.length < 80 && !seen.at(-1).startsWith("Each mark"));
    const wanted = [
      /^To the properties/,
      /^continue/,
      /^next/,
      /^checkpoint/,
      /^keys/,
      /^VIOLATED/,
      /^larger/,
      /^States as a table/,
      /^filter/,
      /^violated-first/,
      /^block = /,
      /^#1 order_delete/,
      /^Answers/,
      /^line/,
      /^Execute/,
      /^Mark|^Time|^timeline|^$/,
      /^Each mark/,
    ];
    let from = 0;
    for (const pattern of wanted) {
      const found = seen.findIndex((text, position) => position >= from && pattern.test(text));
      assert.ok(
        found >= 0,
        `${pattern} is reached in order: ${seen.map((text) => text.slice(0, 20)).join(" | ")}`,
      );
      from = found;
    }
  }));
