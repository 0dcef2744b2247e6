// Makes the fixtures anew from real runs: node make-fixtures.mjs JUROR
//
// Needs a C compiler. What juror writes with --json and shows at its prompt is stored in the form in
// which the server hands it to the page.

import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../../../..");
const [juror] = process.argv.slice(2);
if (!juror) {
  console.error("usage: node make-fixtures.mjs JUROR, the path of the executable");
  process.exit(2);
}
const LIT_MAX = 4;
// Slices of a template have long paths; the last snapshots are enough of those.
const SNAPSHOTS_MAX = { queue: 31, locks: 4, orders: 31 };

function run(directory, args, input) {
  const result = spawnSync(juror, args, { cwd: directory, input, encoding: "utf8", maxBuffer: 1 << 28 });
  if (result.error) throw result.error;
  // Folders and process numbers of the machine that makes the fixtures are no part of them.
  return result.stdout.replaceAll(directory, "/src").replace(/"(id|process)":\d{3,}/g, '"$1":4711');
}

function jsonLines(text) {
  // The program writes to the same output.
  return text
    .split("\n")
    .filter((line) => line.startsWith('{"juror"'))
    .map((line) => JSON.parse(line));
}

/** Returns what a property is, as its drawing and its source say. */
function describe(directory, file, name) {
  const svg = run(directory, ["property", "show", "--as", "svg", file, name]);
  const dot = run(directory, ["property", "show", "--as", "dot", file, name]);
  const unescape = (text) =>
    text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  const states = [
    ...svg.matchAll(/<g id="state-\d+" class="state (\S+?)(?: current)?">[^]*?<text[^>]*>([^<]*)</g),
  ];
  const names = states.map(([, , state]) => unescape(state));
  const edges = [...dot.matchAll(/"state-(\d+)" -> "state-(\d+)" \[id="(edge-\d+)", label="(.*)"\];/g)];
  const title = unescape(/<title>([^]*?)<\/title>/.exec(svg)[1]).split("\n")[0];
  return {
    name,
    description: title.startsWith(`${name}: `) ? title.slice(name.length + 2) : null,
    file,
    source: readFileSync(join(directory, file), "utf8"),
    svg,
    states: states.map(([, sort], position) => ({ state: names[position], sort })),
    transitions: edges.map(([, from, to, edge, label]) => ({
      edge,
      from: names[from],
      to: names[to],
      event: label.split(/[ \\]/)[0],
      label: label.replaceAll("\\n", "\n"),
    })),
  };
}

/** Returns the snapshots after each change of a state, then at each stop and at the end. */
function snapshots(lines, property) {
  const slices = new Map();
  const history = [];
  const events = { buckets: [], total: 0, has_times: true };
  let taken = { sequence: 0, status: "loaded", stop: null, stop_text: null, end: null, end_text: null };
  let path = [];
  let chosen = null;
  const found = [];
  const now = (lit) => {
    const counts = new Map();
    for (const { state } of slices.values()) counts.set(state, (counts.get(state) ?? 0) + 1);
    const violated = [...slices.values()].filter((slice) => slice.verdict === "violated").length;
    found.push(
      structuredClone({
        ...taken,
        sequence: found.length + 1,
        properties: [
          {
            name: property.name,
            enabled: true,
            verdict: violated ? "violated" : "presumably_satisfied",
            slice_count: slices.size,
            violated_count: violated,
            states: property.states
              .map(({ state }, position) => ({
                id: `state-${position}`,
                state,
                slices: counts.get(state) ?? 0,
                current: counts.has(state),
              }))
              .filter(({ current }) => current),
            lit,
            path,
            chosen,
          },
        ],
        threads: [],
        checkpoints: [],
        events,
      }),
    );
  };
  now([]);
  for (const line of lines) {
    if (line.kind === "resume") taken = { ...taken, status: "running", stop: null };
    if (line.kind === "state_change") {
      const key = JSON.stringify(line.slice);
      slices.set(key, { binding: line.slice, state: line.to, verdict: line.verdict, variables: [] });
      events.total += 1;
      const at = line.sequence * 40_000;
      events.buckets.push({
        thread: line.thread,
        from_ns: at,
        to_ns: at + 40_000,
        count: 1,
        verdict: line.verdict === "violated" ? "violated" : null,
      });
      history.push(line);
      chosen = { binding: line.slice, state: line.to, forgotten: false };
      path = history
        .filter((step) => JSON.stringify(step.slice) === key)
        .map(({ sequence, event, what, values, from, to, thread, location }) => ({
          sequence,
          event,
          what,
          values,
          from,
          to,
          thread,
          location,
          repeated: 1,
        }));
      const lit = property.transitions.filter(
        ({ from, to, event }) => from === line.from && to === line.to && event === line.event,
      );
      now(lit.slice(0, LIT_MAX).map(({ edge }) => edge));
    }
    if (line.kind === "stop") {
      taken = { ...taken, status: "stopped", stop: line };
      now([]);
    }
    if (line.kind === "end") {
      taken = { ...taken, status: "ended", end: line };
      now([]);
    }
  }
  return { found, slices: [...slices.values()] };
}

/** Returns what the prompt shows after each command; the first is that of the start. */
function prompted(directory, args, commands) {
  const text = run(directory, ["run", "--color", "never", ...args], `${commands.join("\n")}\nquit\n`);
  return text.split(/^\(juror\) .*\n/m).map((answer) => answer.trimEnd());
}

function live(directory, name, program, file, property, commands) {
  const args = ["--property", file, program];
  const described = describe(directory, file, property);
  const lines = jsonLines(run(directory, ["run", "--json", ...args], `${commands.join("\n")}\nquit\n`));
  const shown = prompted(directory, args, commands);
  const { found, slices } = snapshots(lines, described);
  const outcome = (type) => lines.find((line) => line.kind === "outcome" && line.type === type)?.value ?? [];
  const stops = found.filter((snapshot) => snapshot.status === "stopped");
  for (const snapshot of stops) {
    snapshot.stop_text = shown[0];
    snapshot.threads = outcome("threads");
    const graph = outcome("graphs")[0];
    if (graph) {
      const states = graph.states.map((it, position) => ({
        id: `state-${position}`,
        state: it.state,
        slices: it.slices,
        current: it.slices > 0,
      }));
      snapshot.properties[0].states = states.filter(({ current }) => current);
    }
  }
  const end = found.find((snapshot) => snapshot.status === "ended");
  if (end) end.end_text = shown[commands.indexOf("continue") + 1] ?? "";
  const monitors = outcome("monitors");
  const rows = monitors[0]?.slices?.filter((slice) => slice.binding.length > 0) ?? slices;
  const failed = new Set(lines.filter((line) => line.kind === "error").map((line) => line.command));
  write(name, {
    static: {
      mode: "live",
      program,
      arguments: [],
      version: lines[0].version,
      properties: [described],
      chart: null,
    },
    snapshots: found.slice(-SNAPSHOTS_MAX[name]),
    slices: { [property]: rows },
    answers: Object.fromEntries(
      commands.map((line, position) => [line, { text: shown[position + 1] ?? "", failed: failed.has(line) }]),
    ),
  });
}

function model(directory, name, file) {
  const lines = jsonLines(run(directory, ["model", "check", "--json", file], ""));
  const verdict = lines.find((line) => line.kind === "model_verdict" && line.trail);
  run(directory, ["model", "check", "--web=questions.html", file], "");
  const saved = /id="snapshot">(.*)<\/script>/.exec(readFileSync(join(directory, "questions.html"), "utf8"))[1];
  const { questions } = JSON.parse(saved).static;
  write(name, {
    static: {
      mode: "model",
      program: file,
      arguments: [],
      version: "0.2.0-dev",
      properties: [],
      questions,
      chart: verdict.trail,
    },
    snapshots: [],
    slices: {},
    answers: {},
  });
}

function write(name, fixture) {
  const { snapshots, ...rest } = fixture;
  const text = JSON.stringify({ ...rest, snapshots: null }, null, 1).replace(
    /null\n\}$/,
    `[\n${snapshots.map((it) => JSON.stringify(it)).join(",\n")}\n]\n}`,
  );
  writeFileSync(join(here, "fixtures", `${name}.json`), `${text}\n`);
  console.log(`${name}.json`);
}

function copy(from, directory) {
  for (const file of readdirSync(from)) copyFileSync(join(from, file), join(directory, file));
}

const work = mkdtempSync(join(tmpdir(), "page-fixtures-"));
try {
  const compile = (...args) => execFileSync("cc", ["-g", ...args], { cwd: work });
  const commands = [
    "info threads",
    "backtrace",
    "info monitors",
    "frame 1",
    "info graph",
    "print nothing",
    "continue",
  ];
  copy(join(root, "examples/queue"), work);
  compile("-o", "queue", "queue.c", "main.c");
  live(work, "queue", "./queue", "queue.prop", "queue_bounds", commands);
  copy(join(root, "examples/locks"), work);
  compile("-pthread", "-o", "locks", "main.c");
  live(work, "locks", "./locks", "locks.prop", "lock_order", commands.slice(0, 5));
  copy(join(root, "properties/libc"), work);
  copy(join(here, "programs"), work);
  compile("-o", "orders", "orders.c");
  live(work, "orders", "./orders", "double-free.prop", "double_free", commands.slice(0, 5));
  model(work, "handover", "handover.pml");
} finally {
  rmSync(work, { recursive: true });
}
