// The page as one file, and what its modules may contain.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { joinable, modules, report } from "./bundle.mjs";
import { assets, fixture } from "./server.mjs";
import { eventually, isStopped, picture, withAddress } from "./support.mjs";

async function withReport(saved, run) {
  const directory = mkdtempSync(join(tmpdir(), "page-report-"));
  const file = join(directory, "report.html");
  try {
    writeFileSync(file, report(saved));
    await withAddress(pathToFileURL(file).href, {}, run);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test("a report shows the same without a server, and takes no commands", () => {
  const data = fixture("queue");
  const rows = data.slices.queue_bounds;
  const snapshot = data.snapshots.find(isStopped);
  snapshot.stop_text += "</script><img src=x onerror=alert(1)>";
  const saved = { static: data.static, snapshot, slices: { queue_bounds: { total: 2, matching: 2, rows } } };
  return withReport(saved, async ({ page, requests }) => {
    await page.getByRole("region", { name: "✗ Violated: queue_bounds" }).waitFor();
    await page.getByText("A saved report: it shows one moment of a run, and takes no commands.").waitFor();
    await eventually(
      () => page.locator("g.state.now.violation .tag-text").textContent(),
      "now · 1",
      "the present state",
    );
    assert.equal(await page.getByRole("grid", { name: "Slices" }).getByRole("row").count(), 3);
    await eventually(() => page.locator("#path tbody tr").count(), 8, "the path");
    assert.match(await page.locator("#report-text").textContent(), /<\/script><img src=x onerror=alert\(1\)>$/);
    await page.getByRole("button", { name: "zoom in +" }).click();
    await page.getByText(/^Shown: .* of /).waitFor();
    assert.equal(await page.locator("#prompt").isVisible(), false);
    assert.equal(await page.getByRole("button", { name: /continue/ }).count(), 0);
    assert.deepEqual(
      requests.filter((address) => !/^(file|data):/.test(address)),
      [],
    );
    assert.equal(requests.filter((address) => address.startsWith("file:")).length, 1, "the file is all");
    await picture(page, "report");
  });
});

test("a report without rows has those of its violations", () => {
  const data = fixture("queue");
  const snapshot = data.snapshots.find(isStopped);
  return withReport({ static: data.static, snapshot }, async ({ page }) => {
    await page.locator("#slices .counts").getByText("1 of 2").waitFor();
    const cells = page.getByRole("grid", { name: "Slices" }).getByRole("row").nth(1).getByRole("gridcell");
    assert.deepEqual(await cells.allTextContents(), [
      "queue = 0x5555555592e0",
      "overflow",
      "✗ violated",
      "room = 12, letters = 12, digits = 3",
    ]);
  });
});

test("a report of a model has its chart", () => {
  const { static: fixed } = fixture("handover");
  const snapshot = {
    sequence: 1,
    status: "ended",
    stop: null,
    stop_text: null,
    end: null,
    end_text: null,
    properties: [],
    threads: [],
    checkpoints: [],
    events: { buckets: [], total: 0 },
  };
  return withReport({ static: fixed, snapshot }, async ({ page }) => {
    await page.getByText("A saved report: it shows the answers of a check, and takes no commands.").waitFor();
    assert.equal(await page.locator("#status").textContent(), "✗ violated: steps and states");
    await page.getByRole("region", { name: "✗ Violated: steps and states" }).waitFor();
    await page.getByRole("grid", { name: "Sequence chart" }).getByRole("row").nth(2).click();
    await page.getByText("State after step 2").waitFor();
  });
});

const scripts = modules();

test("modules can be joined: imports and exports are lines, names are of one module", () => {
  const owners = new Map();
  for (const name of scripts) {
    const text = readFileSync(join(assets, name), "utf8");
    for (const line of text.split("\n")) {
      if (/^\s*import\b/.test(line)) assert.match(line, /^import \{ [\w, ]+ \} from "\.\/\w+\.js";$/, name);
      if (/^\s*export\b/.test(line)) assert.match(line, /^export (async )?(function|const|class) /, name);
    }
    for (const [, declared] of joinable(name).matchAll(/^(?:async )?(?:function|const|let|class) (\w+)/gm)) {
      assert.equal(owners.get(declared), undefined, `${declared} is in ${name}, too`);
      owners.set(declared, name);
    }
  }
});

test("imports are of names that the module exports", () => {
  for (const name of scripts) {
    const text = readFileSync(join(assets, name), "utf8");
    const body = text
      .split("\n")
      .filter((line) => !line.startsWith("import "))
      .join("\n");
    for (const [, names, from] of text.matchAll(/^import \{ (.+) \} from "\.\/(.+)";$/gm)) {
      const exporting = readFileSync(join(assets, from), "utf8");
      for (const wanted of names.split(", ")) {
        assert.match(
          exporting,
          new RegExp(`^export (async )?(function|const|class) ${wanted}\\b`, "m"),
          `${name}: ${wanted}`,
        );
        assert.match(body, new RegExp(`\\b${wanted}\\b`), `${name} does not use ${wanted}`);
      }
    }
  }
});

test("data never becomes markup or code", () => {
  for (const name of scripts) {
    const text = readFileSync(join(assets, name), "utf8");
    assert.doesNotMatch(
      text,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|setAttribute\("on|<\/script/i,
      name,
    );
  }
  const page = readFileSync(join(assets, "index.html"), "utf8");
  assert.doesNotMatch(page, /<script>|style=|\son\w+=/, "index.html");
});
