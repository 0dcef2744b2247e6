// juror itself behind the page: JUROR_EXECUTABLE, over the examples.

import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { eventually, withAddress } from "./support.mjs";

const here = dirname(fileURLToPath(import.meta.url));
export const juror = process.env.JUROR_EXECUTABLE;
export const work = mkdtempSync(join(tmpdir(), "page-juror-"));
for (const directory of [join(here, "../../../../examples/queue"), join(here, "programs")]) {
  for (const file of readdirSync(directory)) copyFileSync(join(directory, file), join(work, file));
}
execFileSync("cc", ["-g", "-o", "queue", "queue.c", "main.c"], { cwd: work });
for (const name of ["endless", "million"])
  execFileSync("cc", ["-g", "-o", name, `${name}.c`], { cwd: work });
after(() => rmSync(work, { recursive: true }));

/** Starts juror with a page, runs a test over it, and ends it. */
export async function withJuror(args, options, run) {
  const child = spawn(juror, args, { cwd: work, stdio: ["pipe", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data) => {
      output += data;
    });
  }
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const address = () => /http:\/\/127\.0\.0\.1:\d+\/#\w+/.exec(output)?.[0] ?? "";
  try {
    await eventually(address, /^http/, "the address");
    await withAddress(address(), options, ({ page }) => run(page));
  } finally {
    child.stdin.end("kill\nquit\n");
    child.kill();
    await ended;
  }
}
