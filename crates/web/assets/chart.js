// The run of a model as a sequence chart: a lane for each process, time downwards, messages as arrows
// between the lanes. It is a table, so that it is read in the order of the steps.

import { make, makeTable, patchList, makeRow, setAttribute, setCells, setClass, setShown } from "./dom.js";
import { setText } from "./dom.js";
import { counted, oneLine, visible } from "./text.js";

const ROWS_MAX = 5000;
// A long run is drawn in parts, each within a frame.
const PART = 100;

/** Creates the chart of a trail. */
export function createChart(chart) {
  const section = document.getElementById("chart");
  setShown(section, true);
  const view = { chart, rows: chart.rows.slice(0, ROWS_MAX), chosen: -1 };
  const heads = ["Step", ...chart.columns.map(oneLine), "Changes"];
  const { table, body } = makeTable("Sequence chart", heads, { class: "chart", role: "grid" });
  view.body = body;
  const left = chart.rows.length - view.rows.length;
  const note =
    left > 0
      ? `${counted(left, "step")} more are not drawn.`
      : chart.stays
        ? "The run stays in its last state forever."
        : "";
  const state = makeTable("State after the chosen step", ["Name", "Value", "Changed"]);
  view.state = state.body;
  view.heading = make("h3", { id: "chart-state" }, "State");
  section.append(make("p", { class: "note" }, "Choose a step to see the state after it."));
  section.append(make("div", { class: "scroll chart-scroll" }, table), make("p", { class: "note" }, note));
  section.append(view.heading, state.table);
  body.addEventListener("click", (event) => chooseStep(view, positionOf(view, event.target)));
  body.addEventListener("keydown", (event) => moveChoice(view, event));
  appendPart(view, 0);
  return view;
}

function appendPart(view, from) {
  const part = view.rows.slice(from, from + PART);
  view.body.append(...part.map((row, position) => createStepRow(view, row, from + position)));
  if (from === 0) chooseStep(view, 0, false);
  if (from + PART < view.rows.length) requestAnimationFrame(() => appendPart(view, from + PART));
}

function createStepRow(view, row, position) {
  const cells = [make("th", { scope: "row", role: "rowheader" }, String(position + 1))];
  const [from, to] = arrowOf(row);
  view.chart.columns.forEach((_, column) => cells.push(createCell(row, column, from, to)));
  const changes = [...row.changes.map(oneLine), ...(row.printed ? [`prints ${oneLine(row.printed)}`] : [])];
  cells.push(make("td", { role: "gridcell", class: "changes" }, changes.join(", ")));
  const line = make(
    "tr",
    { role: "row", tabindex: position === 0 ? "0" : "-1", "aria-selected": "false" },
    ...cells,
  );
  if (row.begins_cycle) {
    setClass(line, "cycle", true);
    cells[0].append(" ↻ the run repeats from here");
  }
  return line;
}

// A step without a process is in the first lane.
function arrowOf(row) {
  const from = row.column ?? 0;
  return [from, row.partner ?? from];
}

function createCell(row, column, from, to) {
  const cell = make("td", { role: "gridcell", class: "lane" });
  const isRight = to > from;
  if (column === from) {
    cell.append(make("span", { class: "step" }, visible(row.text)));
    if (to !== from) cell.classList.add(isRight ? "leaves-right" : "leaves-left");
  } else if (column === to) {
    cell.append(make("span", { class: "arrival" }, isRight ? "▶ takes it" : "takes it ◀"));
    cell.classList.add(isRight ? "arrives-right" : "arrives-left");
  } else if (column > Math.min(from, to) && column < Math.max(from, to)) {
    cell.classList.add("passes");
  }
  return cell;
}

function positionOf(view, target) {
  return [...view.body.children].indexOf(target.closest("tr"));
}

function moveChoice(view, event) {
  const last = view.body.children.length - 1;
  const position = positionOf(view, event.target);
  const to = {
    ArrowDown: position + 1,
    ArrowUp: position - 1,
    Home: 0,
    End: last,
    Enter: position,
    " ": position,
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  chooseStep(view, Math.min(Math.max(to, 0), last));
}

function chooseStep(view, position, focus = true) {
  const row = view.body.children[position];
  if (!row) return;
  const before = view.body.children[view.chosen];
  if (before) {
    setAttribute(before, "aria-selected", "false");
    setAttribute(before, "tabindex", "-1");
  }
  view.chosen = position;
  setAttribute(row, "aria-selected", "true");
  setAttribute(row, "tabindex", "0");
  if (focus) row.focus();
  drawState(view, position);
}

// A trail has changes only; the state is what they amount to.
function drawState(view, position) {
  const values = new Map();
  for (const row of view.rows.slice(0, position + 1)) {
    for (const change of row.changes) {
      const [name, ...value] = change.split(" = ");
      values.set(name, value.join(" = "));
    }
  }
  const changed = new Set(view.rows[position].changes.map((change) => change.split(" = ")[0]));
  setText(view.heading, `State after step ${position + 1}: ${oneLine(view.rows[position].text)}`);
  const rows = [...values].map(([name, value]) => [
    oneLine(name),
    oneLine(value),
    changed.has(name) ? "by this step" : "",
  ]);
  patchList(
    view.state,
    rows,
    () => makeRow(3, true),
    (row, texts) => {
      setCells(row, texts);
      setClass(row, "now", texts[2] !== "");
    },
  );
}
