// The time line: events and verdicts by thread, on a canvas, with a mark that is read by keyboard and a
// table that says the same.

import { make, makeDetails, makeRow, makeTable, patchList, setAttribute, setCells, setShown } from "./dom.js";
import { setText } from "./dom.js";
import { announce } from "./announce.js";
import { counted, grouped, oneLine, timeWords, verdictWords } from "./text.js";
import { createZoom, shownMarks, takeZoom, takeZoomKey } from "./zoom.js";

const MARKS_MAX = 600;
const LANE = 30;
const LANES_MAX = 16;
const LABEL_WIDTH = 76;

/** Creates the time line; `connection` is null in a report. */
export function createTimeline(connection, announcer) {
  const section = document.getElementById("timeline");
  const view = { section, announcer, buckets: [], threads: [], key: null, cursor: -1, width: 0 };
  view.zoom = createZoom(connection, announcer, () => drawAgain(view));
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
  view.part = make("p", { class: "note" });
  const controls = make("div", { class: "controls" }, view.part, view.zoom.buttons);
  const byThread = makeTable("Events by thread", ["Thread", "Events", "Violations", "From", "To"]);
  view.byThread = byThread.body;
  const marks = makeTable("Marks of the time line", ["Thread", "From", "To", "Events", "Verdict"]);
  view.marks = marks.body;
  view.details = makeDetails("Each mark as a table", marks.table);
  section.append(controls, view.slider, view.words, byThread.table, view.details);
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
  view.slider.addEventListener("keydown", (event) => takeMarkKey(view, event));
  view.slider.addEventListener("pointerdown", (event) => point(view, event));
  view.details.addEventListener("toggle", () => drawMarks(view));
}

/** Draws the events, if there are others. */
export function drawTimeline(view, store) {
  const events = store.snapshot?.events;
  const isKnown = Boolean(events?.buckets?.length || events?.window);
  setShown(view.section, isKnown);
  if (!isKnown) return;
  view.events = events;
  view.sequence = store.snapshot.sequence;
  view.hasTimes = events.has_times ?? true;
  setText(document.getElementById("timeline-heading"), `Time line: ${counted(events.total, "event")}`);
  drawAgain(view);
}

function drawAgain(view) {
  const { zoom, events } = view;
  takeZoom(zoom, events, view.sequence);
  const buckets = shownMarks(zoom, events.buckets ?? []).slice(-MARKS_MAX);
  const part = JSON.stringify(zoom.window);
  const marks = buckets.map((it) => `${it.thread},${it.from_ns},${it.to_ns},${it.count},${it.verdict}`);
  const key = [part, ...marks].join(";");
  if (key === view.key) return;
  const isMoved = part !== view.shownPart;
  const isAtEnd = view.cursor < 0 || view.cursor >= view.buckets.length - 1;
  Object.assign(view, { key, buckets, threads: threadsOf(buckets), shownPart: part });
  const followsEnd = !zoom.chosen || (isAtEnd && !zoom.window);
  view.cursor = followsEnd ? buckets.length - 1 : nearest(buckets, zoom.chosen);
  drawPart(view, isMoved);
  drawThreadRows(view);
  drawMarks(view);
  drawCursor(view);
  paint(view);
}

// The part is said where it is not all of the time line.
function drawPart(view, isMoved) {
  const { window, whole } = view.zoom;
  const ends = ({ from, to }) => `${pointWords(view, from)} to ${pointWords(view, to)}`;
  const words = window ? `Shown: ${ends(window)}, of ${ends(whole)}` : "";
  setText(view.part, words);
  if (isMoved && (words || view.hasPart))
    announce(view.announcer, "part", words || "All of the time line is shown");
  view.hasPart = words !== "";
}

// The mark nearest to one of before; of two, that of its thread.
function nearest(buckets, { at, thread }) {
  const distances = buckets.map(
    (bucket) => 2 * Math.abs((bucket.from_ns + bucket.to_ns) / 2 - at) + Number(bucket.thread !== thread),
  );
  return distances.indexOf(Math.min(...distances));
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
  if (!bucket) {
    setText(view.words, "No event is in this part.");
    setAttribute(view.slider, "aria-valuetext", "No event is in this part.");
    return;
  }
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

function takeMarkKey(view, event) {
  const last = view.buckets.length - 1;
  const edge = { ArrowRight: last, ArrowLeft: 0 }[event.key];
  if (!event.ctrlKey && !event.altKey && !event.metaKey) {
    if (takeZoomKey(view.zoom, event, edge === view.cursor || last < 0)) {
      event.preventDefault();
      return;
    }
  }
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
  setCursor(view, Math.min(Math.max(to, 0), last));
}

// The zoom keeps the mark that the user has chosen in sight.
function setCursor(view, position) {
  view.cursor = position;
  const bucket = view.buckets[position];
  view.zoom.chosen = bucket && { at: (bucket.from_ns + bucket.to_ns) / 2, thread: bucket.thread };
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
  setCursor(view, distances.indexOf(Math.min(...distances)));
}

function scaleOf(view, width) {
  const { window } = view.zoom;
  const from = window?.from ?? Math.min(...view.threads.map((thread) => thread.from));
  const to = Math.max(window ? window.to : Math.max(...view.threads.map((thread) => thread.to)), from + 1);
  const room = Math.max(width - LABEL_WIDTH - 8, 1);
  const most = Math.max(...view.buckets.map((bucket) => bucket.count), 1);
  return {
    x: (time) => LABEL_WIDTH + Math.min(Math.max((time - from) / (to - from), 0), 1) * room,
    height: (count) => 5 + (Math.log1p(count) / Math.log1p(most)) * (LANE - 17),
  };
}

function paint(view) {
  const { width } = view;
  if (width === 0) return;
  const lanes = view.threads.slice(0, LANES_MAX);
  const height = Math.max(lanes.length, 1) * LANE;
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
