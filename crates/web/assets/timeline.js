// The time line: events and verdicts by thread, on a canvas, with a mark that is read by keyboard and a
// table that says the same.

import { make, makeDetails, makeRow, makeTable, patchList, setAttribute, setCells, setShown } from "./dom.js";
import { setText } from "./dom.js";
import { counted, grouped, oneLine, timeWords, verdictWords } from "./text.js";

const MARKS_MAX = 600;
const LANE = 30;
const LANES_MAX = 16;
const LABEL_WIDTH = 76;

/** Creates the time line. */
export function createTimeline() {
  const section = document.getElementById("timeline");
  const view = { section, buckets: [], threads: [], key: null, cursor: -1, width: 0 };
  view.canvas = make("canvas", { "aria-hidden": "true" });
  view.slider = make(
    "div",
    {
      class: "marks",
      role: "slider",
      tabindex: "0",
      "aria-labelledby": "timeline-heading",
      "aria-valuemin": "1",
    },
    view.canvas,
  );
  view.words = make("p", { class: "note" });
  const byThread = makeTable("Events by thread", ["Thread", "Events", "Violations", "From", "To"]);
  view.byThread = byThread.body;
  const marks = makeTable("Marks of the time line", ["Thread", "From", "To", "Events", "Verdict"]);
  view.marks = marks.body;
  view.details = makeDetails("Each mark as a table", marks.table);
  section.append(view.slider, view.words, byThread.table, view.details);
  listenToMarks(view);
  return view;
}

function listenToMarks(view) {
  const redraw = () => paint(view);
  new ResizeObserver(([{ contentRect }]) => {
    view.width = contentRect.width;
    paint(view);
  }).observe(view.slider);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  view.slider.addEventListener("keydown", (event) => moveCursor(view, event));
  view.slider.addEventListener("pointerdown", (event) => point(view, event));
  view.details.addEventListener("toggle", () => drawMarks(view));
}

/** Draws the events, if there are others. */
export function drawTimeline(view, store) {
  const events = store.snapshot?.events;
  const buckets = (events?.buckets ?? []).slice(-MARKS_MAX);
  setShown(view.section, buckets.length > 0);
  if (buckets.length === 0) return;
  view.hasTimes = events.has_times ?? true;
  setText(document.getElementById("timeline-heading"), `Time line: ${counted(events.total, "event")}`);
  const key = buckets
    .map((it) => `${it.thread},${it.from_ns},${it.to_ns},${it.count},${it.verdict}`)
    .join(";");
  if (key === view.key) return;
  const isAtEnd = view.cursor < 0 || view.cursor >= view.buckets.length - 1;
  Object.assign(view, { key, buckets, threads: threadsOf(buckets) });
  view.cursor = isAtEnd ? buckets.length - 1 : Math.min(view.cursor, buckets.length - 1);
  drawThreadRows(view);
  drawMarks(view);
  drawCursor(view);
  paint(view);
}

function threadsOf(buckets) {
  const threads = new Map();
  for (const { thread, from_ns: from, to_ns: to, count, verdict } of buckets) {
    const row = threads.get(thread) ?? { thread, count: 0, violations: 0, from, to };
    row.count += count;
    row.violations += verdict === "violated" ? 1 : 0;
    row.from = Math.min(row.from, from);
    row.to = Math.max(row.to, to);
    threads.set(thread, row);
  }
  return [...threads.values()].sort((a, b) => a.thread - b.thread);
}

function drawThreadRows(view) {
  patchList(
    view.byThread,
    view.threads,
    () => makeRow(5, true),
    (row, { thread, count, violations, from, to }) => {
      setCells(row, [
        `thread ${thread}`,
        grouped(count),
        grouped(violations),
        pointWords(view, from),
        pointWords(view, to),
      ]);
    },
  );
}

// Six hundred rows are made only for who opens them.
function drawMarks(view) {
  if (!view.details.open) return;
  patchList(
    view.marks,
    view.buckets,
    () => makeRow(5),
    (row, bucket) => {
      setCells(row, [
        `thread ${bucket.thread}`,
        pointWords(view, bucket.from_ns),
        pointWords(view, bucket.to_ns),
        grouped(bucket.count),
        verdictOf(bucket),
      ]);
    },
  );
}

// Without times their numbers put the events in order.
function pointWords(view, point) {
  return view.hasTimes ? timeWords(point) : `event ${grouped(point)}`;
}

function verdictOf({ verdict, property }) {
  if (!verdict) return "";
  const { symbol, word } = verdictWords(verdict);
  return `${symbol} ${word}${property ? `: ${oneLine(property)}` : ""}`;
}

function drawCursor(view) {
  const bucket = view.buckets[view.cursor];
  if (!bucket) return;
  const verdict = verdictOf(bucket);
  const words = [
    `Mark ${view.cursor + 1} of ${view.buckets.length}: thread ${bucket.thread}`,
    `${pointWords(view, bucket.from_ns)} to ${pointWords(view, bucket.to_ns)}`,
    counted(bucket.count, "event"),
    ...(verdict ? [verdict] : []),
  ].join(", ");
  setText(view.words, words);
  setAttribute(view.slider, "aria-valuemax", view.buckets.length);
  setAttribute(view.slider, "aria-valuenow", view.cursor + 1);
  setAttribute(view.slider, "aria-valuetext", words);
}

function moveCursor(view, event) {
  const last = view.buckets.length - 1;
  const to = {
    ArrowRight: view.cursor + 1,
    ArrowLeft: view.cursor - 1,
    Home: 0,
    End: last,
    PageDown: view.cursor + 20,
    PageUp: view.cursor - 20,
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  view.cursor = Math.min(Math.max(to, 0), last);
  drawCursor(view);
  paint(view);
}

// The mark nearest to the pointer, in the lane under it.
function point(view, event) {
  const bounds = view.canvas.getBoundingClientRect();
  const scale = scaleOf(view, bounds.width);
  const thread = view.threads[Math.floor((event.clientY - bounds.top) / LANE)]?.thread;
  const x = event.clientX - bounds.left;
  const distance = (bucket) => Math.abs(scale.x(bucket.from_ns) - x) + (bucket.thread === thread ? 0 : 1e6);
  const distances = view.buckets.map(distance);
  view.cursor = distances.indexOf(Math.min(...distances));
  drawCursor(view);
  paint(view);
}

function scaleOf(view, width) {
  const from = Math.min(...view.threads.map((thread) => thread.from));
  const to = Math.max(...view.threads.map((thread) => thread.to), from + 1);
  const room = Math.max(width - LABEL_WIDTH - 8, 1);
  const most = Math.max(...view.buckets.map((bucket) => bucket.count), 1);
  return {
    x: (time) => LABEL_WIDTH + ((time - from) / (to - from)) * room,
    height: (count) => 5 + (Math.log1p(count) / Math.log1p(most)) * (LANE - 17),
  };
}

function paint(view) {
  const { width } = view;
  if (width === 0 || view.buckets.length === 0) return;
  const lanes = view.threads.slice(0, LANES_MAX);
  const height = lanes.length * LANE;
  const pixels = devicePixelRatio;
  if (
    view.canvas.width !== Math.round(width * pixels) ||
    view.canvas.height !== Math.round(height * pixels)
  ) {
    view.canvas.width = Math.round(width * pixels);
    view.canvas.height = Math.round(height * pixels);
    view.canvas.style.width = `${width}px`;
    view.canvas.style.height = `${height}px`;
  }
  const context = view.canvas.getContext("2d");
  context.setTransform(pixels, 0, 0, pixels, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "12px ui-monospace, monospace";
  context.textBaseline = "middle";
  const colours = coloursNow();
  paintLanes(context, colours, lanes, width);
  const scale = scaleOf(view, width);
  const positions = new Map(lanes.map(({ thread }, position) => [thread, position]));
  view.buckets.forEach((bucket, number) => {
    const lane = positions.get(bucket.thread);
    if (lane !== undefined) paintMark(context, colours, scale, bucket, lane, number === view.cursor);
  });
}

function coloursNow() {
  const style = getComputedStyle(document.documentElement);
  const names = ["text", "rule", "bad", "accent"];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`)]));
}

function paintLanes(context, colours, lanes, width) {
  lanes.forEach(({ thread }, position) => {
    const bottom = (position + 1) * LANE - 0.5;
    context.fillStyle = colours.text;
    context.fillText(`thread ${thread}`, 0, bottom - LANE / 2);
    context.fillStyle = colours.rule;
    context.fillRect(LABEL_WIDTH, bottom, width - LABEL_WIDTH, 1);
  });
}

// A violation is higher and has a cross, so that its colour is not the only sign.
function paintMark(context, colours, scale, bucket, lane, isCursor) {
  const bottom = (lane + 1) * LANE - 1;
  const left = scale.x(bucket.from_ns);
  const width = Math.max(scale.x(bucket.to_ns) - left - 0.5, 2);
  const isViolated = bucket.verdict === "violated";
  const height = isViolated ? LANE - 14 : scale.height(bucket.count);
  context.fillStyle = isViolated ? colours.bad : colours.accent;
  context.fillRect(left, bottom - height, width, height);
  if (isViolated) {
    context.textAlign = "center";
    context.fillText("✗", left + width / 2, bottom - LANE + 9);
    context.textAlign = "start";
  }
  if (!isCursor) return;
  context.strokeStyle = colours.text;
  context.lineWidth = 2;
  context.strokeRect(left - 2, bottom - LANE + 2, width + 4, LANE - 2);
}
