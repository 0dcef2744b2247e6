// Joins the page to one file, as a report is made: the same rule as in text.js.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { assets } from "./server.mjs";

/** Returns the modules, page.js last. */
export function modules() {
  const others = readdirSync(assets).filter((name) => name.endsWith(".js") && name !== "page.js");
  return [...others, "page.js"];
}

/** Returns the text of a module without its imports and the word `export`. */
export function joinable(name) {
  const lines = readFileSync(join(assets, name), "utf8").split("\n");
  return lines
    .filter((line) => !line.startsWith("import "))
    .map((line) => line.replace(/^export /, ""))
    .join("\n");
}

/** Returns a page that shows a saved snapshot without a server. */
export function report(saved) {
  const snapshot = JSON.stringify(saved).replaceAll("<", "\\u003c");
  const script = `<script type="module">\n${modules().map(joinable).join("\n")}</script>`;
  const style = `<style>\n${readFileSync(join(assets, "style.css"), "utf8")}</style>`;
  // A text that is put in must not be searched for what comes next.
  const parts = new Map([
    ['<link rel="stylesheet" href="style.css">', style],
    ['<script type="module" src="page.js"></script>', script],
    ["</body>", `<script type="application/json" id="snapshot">${snapshot}</script>\n</body>`],
  ]);
  const lines = readFileSync(join(assets, "index.html"), "utf8").split("\n");
  return lines.map((line) => parts.get(line) ?? line).join("\n");
}
