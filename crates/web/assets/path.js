// The path of the chosen slice: which events led to its state, with their values.

import { execute } from "./commands.js";
import { make, patchList, setAttribute, setClass, setShown, setText } from "./dom.js";
import { propertyNow, violationsNow } from "./store.js";
import { grouped, oneLine, placeWords, timeWords, valuesWords } from "./text.js";

const STEPS_MAX = 200;
// A path has at most this number of steps, the last ones.
const PATH_MAX = 1000;
const HEADS = ["From", "Event", "To", "Place", "Thread", "Time"];

/** Creates the path; `commands` is null where no command is possible. */
export function createPath(commands, fixed) {
  const section = document.getElementById("path");
  const subject = make("p", { class: "note" });
  const head = make("tr", {}, ...HEADS.map((text) => make("th", { scope: "col" }, text)));
  const body = make("tbody");
  const table = make("table", { "aria-labelledby": "path-heading" }, make("thead", {}, head), body);
  const scroll = make(
    "div",
    { class: "scroll", tabindex: "0", role: "group", "aria-labelledby": "path-heading" },
    table,
  );
  section.append(subject, scroll);
  return {
    section,
    subject,
    body,
    scroll,
    table,
    commands,
    canGo: commands !== null && fixed.mode === "recorded",
  };
}

/** Draws the path of the chosen slice, or of the violation that has stopped the program. */
export function drawPath(view, store) {
  const now = propertyNow(store, store.property);
  const path = pathNow(now, store);
  setShown(view.section, Boolean(now));
  if (!now) return;
  setText(document.getElementById("path-heading"), `Path in ${oneLine(store.property)}`);
  const steps = folded(path ?? []);
  const earlier = Math.max(steps.length - STEPS_MAX, 0);
  setText(view.subject, subjectWords(now, path, earlier));
  const hasTimes = steps.some((step) => step.time_ns !== null && step.time_ns !== undefined);
  setClass(view.table, "without-times", !hasTimes);
  setShown(view.scroll, Boolean(path?.length));
  // The end is followed unless the user has scrolled away from it.
  const isAtEnd =
    view.length !== path?.length &&
    view.scroll.scrollTop + view.scroll.clientHeight >= view.scroll.scrollHeight - 8;
  patchList(
    view.body,
    steps.slice(earlier),
    () => createStep(view),
    (row, step) => drawStep(view, row, step),
  );
  if (isAtEnd) view.scroll.scrollTop = view.scroll.scrollHeight;
  view.length = path?.length;
}

function pathNow(now, store) {
  if (now?.path?.length) return now.path;
  const violation = violationsNow(store).find(({ property }) => property === now?.name);
  return violation?.path ?? now?.path ?? null;
}

// Equal steps that follow one another are one row with their number, as in a report.
function folded(path) {
  const steps = [];
  for (const step of path) {
    const key = JSON.stringify([
      step.from,
      step.to,
      step.event,
      step.what,
      step.values,
      step.thread,
      step.location?.address,
    ]);
    const last = steps.at(-1);
    if (last?.key === key) Object.assign(last, { step, repeated: last.repeated + (step.repeated ?? 1) });
    else steps.push({ key, step, repeated: step.repeated ?? 1 });
  }
  return steps.map(({ step, repeated }) => ({ ...step, repeated }));
}

function subjectWords(now, path, earlier) {
  if (path === null && now.lit === null) return "The history is off, so that there is no path.";
  if (path === null)
    return now.slice_count > 0 ? "Choose a slice to see how it came to its state." : "No event yet.";
  const { chosen } = now;
  const slice = chosen?.binding?.length
    ? [`Slice ${valuesWords(chosen.binding)}${chosen.forgotten ? ", which has ended" : ""}.`]
    : [];
  if (path.length === 0) return [...slice, "No event yet."].join(" ");
  const number = path.length < PATH_MAX ? `${grouped(earlier)} earlier steps` : "Earlier steps";
  const more = earlier > 0 ? [`${number} are not shown.`] : [];
  return [...slice, ...more, "The newest step is the last."].join(" ");
}

function createStep(view) {
  const row = make("tr", {}, ...HEADS.map(() => make("td", {}, make("bdi"))));
  if (!view.canGo) return row;
  const button = make("button", { type: "button", hidden: true }, "go to");
  button.addEventListener("click", () => execute(view.commands, `goto ${button.dataset.sequence}`));
  row.children[1].append(" ", button);
  return row;
}

function drawStep(view, row, step) {
  const texts = [
    oneLine(step.from ?? ""),
    eventWords(step),
    oneLine(step.to ?? ""),
    placeWords(step.location),
    step.thread ? String(step.thread) : "",
    timeWords(step.time_ns),
  ];
  texts.forEach((text, position) => setText(row.children[position].firstElementChild, text));
  if (!view.canGo) return;
  const button = row.children[1].lastElementChild;
  setShown(button, Boolean(step.sequence));
  setAttribute(button, "data-sequence", step.sequence ?? null);
}

// An event without a name is told by what it is about.
function eventWords(step) {
  const values = valuesWords(step.values);
  const times = step.repeated > 1 ? ` × ${grouped(step.repeated)}` : "";
  return `${oneLine(step.event || step.what || "")}${values ? `(${values})` : ""}${times}`;
}
