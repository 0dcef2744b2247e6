// The stop of the program: report, source, stack, threads, checkpoints.

import { execute } from "./commands.js";
import { make, makeRow, makeTable, patchList, setAttribute, setCells, setClass, setShown } from "./dom.js";
import { setText } from "./dom.js";
import { violatedNow } from "./store.js";
import { baseName, oneLine, placeWords, valueWords, visible } from "./text.js";

// The source says all that the prompt says about these.
const PLAIN_STOPS = new Set(["breakpoint", "finished", "interrupted", "restored", "started", "step"]);
const FRAMES_MAX = 60;
const THREADS_MAX = 100;

/** Creates the views of a stop; `commands` is null where no command is possible. */
export function createStop(commands) {
  const view = { commands, shown: null, frame: null, parts: {} };
  for (const id of ["report", "source", "stack", "threads", "checkpoints"]) {
    view.parts[id] = document.getElementById(id);
  }
  createSource(view);
  view.frames = make("ol", { class: "frames", start: "0" });
  view.more = make("p", { class: "note", hidden: true });
  view.parts.stack.append(view.frames, view.more);
  const threads = makeTable("Threads", ["Thread", "Name", "Where it is"]);
  view.threads = threads.body;
  view.parts.threads.append(threads.table);
  view.checkpoints = make("ul", { class: "checkpoints" });
  view.parts.checkpoints.append(view.checkpoints);
  return view;
}

function createSource(view) {
  view.place = make("p", { class: "place" });
  view.lines = make("ol", { class: "lines", tabindex: "0", "aria-label": "Lines of source" });
  view.frameText = make("pre", { tabindex: "0", "aria-label": "Chosen frame", hidden: true });
  view.displays = make("ul", { class: "displays" });
  view.parts.source.append(view.place, view.lines, view.frameText, view.displays);
}

/** Draws a stop, if it is another one. */
export function drawStop(view, store) {
  const { snapshot } = store;
  if (!snapshot) return;
  drawReport(view, store);
  const isStopped = snapshot.status === "stopped" && snapshot.stop;
  const key = isStopped ? JSON.stringify(snapshot.stop) : snapshot.status;
  if (key !== view.shown) {
    view.shown = key;
    view.frame = null;
    drawSource(view, isStopped ? snapshot.stop : null);
    drawFrames(view, isStopped ? snapshot.stop : null);
  }
  drawThreads(view, snapshot.threads ?? []);
  drawCheckpoints(view, snapshot.checkpoints ?? []);
}

function drawReport(view, store) {
  const { snapshot } = store;
  const isEnd = snapshot.status === "ended";
  const text = isEnd ? snapshot.end_text : snapshot.status === "stopped" ? snapshot.stop_text : null;
  const names = violatedNow(store).map(oneLine);
  const isToldBelow =
    PLAIN_STOPS.has(snapshot.stop?.reason) && snapshot.stop.source && !isEnd && names.length === 0;
  setShown(view.parts.report, Boolean(text) && !isToldBelow);
  if (!text || isToldBelow) return;
  setClass(view.parts.report, "violated", names.length > 0);
  const heading =
    names.length > 0 ? `✗ Violated: ${names.join(", ")}` : isEnd ? "The end of the run" : "The stop";
  setText(document.getElementById("report-heading"), heading);
  setText(document.getElementById("report-text"), visible(text).trimEnd());
}

function drawSource(view, stop) {
  const source = stop?.source;
  setShown(view.parts.source, Boolean(stop));
  if (!stop) return;
  setShown(view.frameText, false);
  setShown(view.lines, Boolean(source));
  const frame = stop.source_frame ? `, frame ${stop.source_frame.level}` : "";
  setText(view.place, source ? `${baseName(source.file)}${frame}` : "There is no source of this place.");
  setAttribute(view.place, "title", source ? oneLine(source.file) : null);
  const lines = (source?.lines ?? []).map((text, position) => ({
    pieces: source.tokens?.[position] ?? [[null, text]],
    number: source.first_line + position,
  }));
  patchList(
    view.lines,
    lines,
    () => make("li", {}, make("span", { class: "number" }), make("code")),
    (line, { pieces, number }) => {
      const isCurrent = number === source.current;
      setText(line.firstElementChild, `${isCurrent ? "→" : " "} ${number}`);
      patchList(line.lastElementChild, pieces, () => make("span"), setToken);
      setAttribute(line, "aria-current", isCurrent ? "location" : null);
    },
  );
  const displays = stop.displays ?? [];
  patchList(
    view.displays,
    displays,
    () => make("li"),
    (item, { expression, value, error }) => {
      setText(item, `${oneLine(expression)} = ${oneLine(value ?? error ?? "")}`);
    },
  );
}

function setToken(token, [kind, text]) {
  setText(token, visible(text));
  setAttribute(token, "data-kind", kind);
}

function drawFrames(view, stop) {
  const frames = stop?.backtrace ?? [];
  setShown(view.parts.stack, frames.length > 0);
  const shown = frames.slice(0, FRAMES_MAX);
  patchList(
    view.frames,
    shown,
    () => createFrame(view),
    (item, frame) => {
      const button = item.firstElementChild;
      setText(button, frameWords(frame));
      setAttribute(button, "data-level", frame.level);
      setAttribute(button, "aria-current", frame.level === (view.frame ?? 0) ? "true" : null);
    },
  );
  const more = frames.length - shown.length;
  setShown(view.more, more > 0 || stop?.more_frames);
  setText(view.more, stop?.more_frames ? "The stack has more frames." : `${more} more frames are not shown.`);
}

function createFrame(view) {
  const button = make("button", { type: "button", class: "frame" });
  setAttribute(button, "aria-disabled", view.commands ? null : "true");
  button.addEventListener("click", () => chooseFrame(view, Number(button.dataset.level)));
  return make("li", {}, button);
}

function frameWords(frame) {
  const called = (frame.arguments ?? [])
    .map(({ name, value }) => `${oneLine(name)}=${valueWords(value)}`)
    .join(", ");
  const { function: name, address } = frame.location ?? {};
  const subject = name ? oneLine(name) : `0x${Number(address ?? 0).toString(16)}`;
  const place = frame.location?.file ? ` at ${placeWords(frame.location)}` : "";
  return `#${frame.level} ${subject} (${called})${place}${frame.inlined ? ", inlined" : ""}`;
}

// The answer of the command has the lines around the call, as the prompt shows them.
async function chooseFrame(view, level) {
  if (!view.commands) return;
  const shown = view.shown;
  const answer = await execute(view.commands, `frame ${level}`);
  if (!answer || answer.failed || view.shown !== shown) return;
  view.frame = level;
  for (const item of view.frames.children) {
    const button = item.firstElementChild;
    setAttribute(button, "aria-current", Number(button.dataset.level) === level ? "true" : null);
  }
  setText(view.place, `Frame ${level}`);
  setShown(view.lines, false);
  setText(view.frameText, visible(answer.text).trimEnd());
  setShown(view.frameText, true);
}

function drawThreads(view, threads) {
  setShown(view.parts.threads, threads.length > 0);
  patchList(
    view.threads,
    threads.slice(0, THREADS_MAX),
    () => makeRow(3, true),
    (row, thread) => {
      const where = [
        thread.location?.function && oneLine(thread.location.function),
        placeWords(thread.location),
      ];
      setCells(row, [
        `${thread.current ? "→ " : ""}${thread.number}`,
        oneLine(thread.name ?? ""),
        [...new Set(where.filter(Boolean))].join(" at "),
      ]);
      setAttribute(row, "aria-current", thread.current ? "true" : null);
    },
  );
}

function drawCheckpoints(view, checkpoints) {
  setShown(view.parts.checkpoints, checkpoints.length > 0);
  patchList(
    view.checkpoints,
    checkpoints,
    () => createCheckpoint(view),
    (item, checkpoint) => {
      const button = item.firstElementChild;
      setAttribute(button, "data-number", checkpoint.number);
      setText(button, `restore ${checkpoint.number}`);
      const kept = checkpoint.alive === false ? ", no longer kept" : "";
      setAttribute(button, "aria-disabled", checkpoint.alive === false || !view.commands ? "true" : null);
      setText(
        item.lastElementChild,
        `${placeWords(checkpoint.location)}, after ${checkpoint.events} events${kept}`,
      );
    },
  );
}

function createCheckpoint(view) {
  const button = make("button", { type: "button" });
  button.addEventListener("click", () => {
    if (button.getAttribute("aria-disabled") !== "true")
      execute(view.commands, `restore ${button.dataset.number}`);
  });
  return make("li", {}, button, " ", make("span"));
}
