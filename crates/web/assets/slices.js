// The slices of the chosen property: counted, filtered, the violated first, forty at a time.

import { announce } from "./announce.js";
import { ask } from "./connection.js";
import { make, makeMark, makeTable, patchList, setAttribute, setMark, setShown, setText } from "./dom.js";
import { propertyNow, violationsNow } from "./store.js";
import { grouped, oneLine, valuesWords, verdictWords } from "./text.js";

const ROWS = 40;
// A run that goes on changes its slices all the time. The table follows twice a second, or, where many
// slices are to be searched, so seldom that its requests take a small part of the time.
const PERIOD_MS = 500;
const SHARE = 20;

/** Creates the table; `connection` is null in a report, which has its rows with it. */
export function createSlices(connection, store, announcer) {
  const view = {
    connection,
    store,
    announcer,
    section: document.getElementById("slices"),
    property: null,
    offset: 0,
    key: null,
    busy: false,
    again: false,
    nextLoad: 0,
    wake: () => {},
    asked: false,
    answer: null,
    chosen: null,
    focus: 0,
  };
  view.filter = make("input", { type: "text", id: "filter", autocomplete: "off", spellcheck: "false" });
  view.first = make("input", { type: "checkbox", id: "violated-first", checked: true });
  view.count = make("span", { class: "counts" });
  const filter = make("label", { for: "filter" }, "Filter ");
  const first = make("label", { for: "violated-first" }, view.first, " violated first");
  view.previous = make("button", { type: "button" }, "Previous 40");
  view.next = make("button", { type: "button" }, "Next 40");
  const { table, body } = makeTable("Slices", ["Slice", "State", "Verdict", "Variables"], { role: "grid" });
  view.table = table;
  view.body = body;
  const controls = make(
    "div",
    { class: "controls" },
    filter,
    view.filter,
    first,
    view.count,
    view.previous,
    view.next,
  );
  if (!connection) controls.replaceChildren(view.count);
  view.section.append(controls, make("div", { class: "scroll" }, table));
  listenToTable(view);
  return view;
}

function listenToTable(view) {
  const anew = () => {
    view.offset = 0;
    view.asked = true;
    load(view);
  };
  view.filter.addEventListener("input", anew);
  view.first.addEventListener("change", anew);
  view.previous.addEventListener("click", () => turn(view, -ROWS));
  view.next.addEventListener("click", () => turn(view, ROWS));
  view.body.addEventListener("click", (event) => chooseRow(view, rowOf(view, event.target)));
  view.body.addEventListener("keydown", (event) => moveFocus(view, event));
}

/** Draws the slices, and asks for the rows when they may have changed. */
export function drawSlices(view, store) {
  const now = propertyNow(store, store.property);
  setShown(view.section, Boolean(now) && now.slice_count > 0);
  if (!now || now.slice_count === 0) return;
  if (view.property !== store.property) {
    Object.assign(view, { property: store.property, offset: 0, answer: null, chosen: null, focus: 0 });
    setText(document.getElementById("slices-heading"), `Slices of ${oneLine(store.property)}`);
  }
  const counts = (now.states ?? []).map((state) => state.slices).join();
  const key = [store.property, now.slice_count, now.violated_count, counts, store.snapshot.status].join();
  if (key !== view.key) {
    view.key = key;
    load(view);
  }
  chooseViolated(view, store);
  followChoice(view, now.chosen);
}

// juror chooses a slice that is violated if nobody has chosen another.
function followChoice(view, chosen) {
  if (!chosen?.binding || view.choosing) return;
  const key = keyOf(chosen.binding);
  if (key === view.chosen) return;
  view.chosen = key;
  if (view.answer) show(view, view.answer);
}

function turn(view, step) {
  const matching = view.answer?.matching ?? 0;
  const last = Math.max(Math.ceil(matching / ROWS) - 1, 0) * ROWS;
  const offset = Math.min(Math.max(view.offset + step, 0), last);
  if (offset === view.offset) return false;
  view.offset = offset;
  view.asked = true;
  load(view);
  return true;
}

// One request at a time; what changes meanwhile leads to one more.
async function load(view) {
  if (!view.connection) {
    show(view, savedRows(view));
    return;
  }
  view.again = true;
  if (isUrgent(view)) view.wake();
  if (view.busy) return;
  view.busy = true;
  while (view.again) {
    if (!isUrgent(view)) await pause(view, view.nextLoad - performance.now());
    view.again = false;
    const begin = performance.now();
    await loadOnce(view);
    const end = performance.now();
    view.nextLoad = end + Math.max(PERIOD_MS, SHARE * (end - begin));
  }
  view.busy = false;
}

// A request of the user, and a stop, do not wait.
function isUrgent(view) {
  return view.asked || view.store.snapshot?.status !== "running";
}

function pause(view, milliseconds) {
  return new Promise((done) => {
    view.wake = done;
    setTimeout(done, milliseconds);
  });
}

// A report without rows has at least those of the violations that it reports.
function savedRows(view) {
  const saved = view.store.saved.slices?.[view.property];
  if (saved) return saved;
  const violations = violationsNow(view.store).filter(({ property }) => property === view.property);
  const rows = violations.map(({ slice, state, variables }) => ({
    binding: slice,
    state,
    variables,
    verdict: "violated",
  }));
  return { total: propertyNow(view.store, view.property)?.slice_count ?? 0, matching: rows.length, rows };
}

async function loadOnce(view) {
  const { property, offset } = view;
  const request = {
    property,
    filter: view.filter.value,
    violated_first: view.first.checked,
    offset,
    count: ROWS,
  };
  try {
    const answer = await ask(view.connection, "/api/slices", request);
    if (answer.error) throw new Error(answer.error);
    if (property === view.property && offset === view.offset) show(view, answer);
  } catch (error) {
    setText(view.count, `The slices are not known: ${oneLine(error.message)}`);
  }
}

function show(view, answer) {
  view.answer = answer;
  const rows = answer.rows ?? [];
  // Slices may have ended since the page was turned.
  if (rows.length === 0 && view.offset > 0 && view.connection) {
    view.offset = 0;
    view.again = true;
  }
  const words = rangeWords(view, answer, rows.length);
  setText(view.count, words);
  // A change that the user did not ask for is not read out.
  if (view.asked) announce(view.announcer, "slices", `slices ${words}`);
  view.asked = false;
  setAttribute(view.previous, "aria-disabled", view.offset > 0 ? null : "true");
  setAttribute(view.next, "aria-disabled", view.offset + rows.length < answer.matching ? null : "true");
  setAttribute(view.table, "aria-rowcount", (answer.matching ?? 0) + 1);
  view.focus = Math.min(view.focus, Math.max(rows.length - 1, 0));
  patchList(view.body, rows, createRow, (row, slice, position) => drawRow(view, row, slice, position));
}

function rangeWords(view, { total, matching }, shown) {
  if (!view.connection) return `${grouped(shown)} of ${grouped(total)}`;
  const range = shown > 0 ? `${grouped(view.offset + 1)}–${grouped(view.offset + shown)} of ` : "";
  return matching === total
    ? `${range}${grouped(total)}`
    : `${range}${grouped(matching)} that match, ${grouped(total)} in all`;
}

function createRow() {
  const cell = (child) => make("td", { role: "gridcell" }, child);
  return make(
    "tr",
    { role: "row" },
    cell(make("bdi")),
    cell(make("bdi")),
    cell(makeMark("verdict")),
    cell(make("bdi")),
  );
}

function drawRow(view, row, slice, position) {
  const [binding, state, verdict, variables] = [...row.children].map((cell) => cell.firstElementChild);
  setText(binding, valuesWords(slice.binding) || "base slice");
  setText(state, oneLine(slice.state));
  setMark(verdict, verdictWords(slice.verdict));
  setText(variables, valuesWords(slice.variables));
  setAttribute(row, "aria-rowindex", view.offset + position + 2);
  setAttribute(row, "aria-selected", String(keyOf(slice.binding) === view.chosen));
  setAttribute(row, "tabindex", position === view.focus ? "0" : "-1");
}

function keyOf(binding) {
  return JSON.stringify(binding);
}

function rowOf(view, target) {
  return [...view.body.children].indexOf(target.closest("tr"));
}

// A report cannot ask for another path.
function chooseRow(view, position) {
  const slice = view.answer?.rows[position];
  if (!slice || !view.connection) return;
  view.focus = position;
  chooseSlice(view, slice.binding);
}

function chooseSlice(view, binding) {
  view.chosen = keyOf(binding);
  if (view.answer) show(view, view.answer);
  // Snapshots that were on their way have the choice before.
  view.choosing = true;
  const done = () => {
    view.choosing = false;
  };
  ask(view.connection, "/api/choose", { property: view.property, binding }).then(done, () => {
    done();
    setText(view.count, "juror did not answer; the path is that of another slice");
  });
}

// The slice that has stopped the program is chosen once, at its stop.
function chooseViolated(view, store) {
  if (view.seen === store.stopShown) return;
  view.seen = store.stopShown;
  const violation = violationsNow(store).find(({ property }) => property === view.property);
  if (violation?.slice?.length && view.connection) chooseSlice(view, violation.slice);
  else if (violation?.slice) view.chosen = keyOf(violation.slice);
}

function moveFocus(view, event) {
  const position = rowOf(view, event.target);
  const last = view.body.children.length - 1;
  const steps = { ArrowDown: position + 1, ArrowUp: position - 1, Home: 0, End: last };
  if (event.key === "Enter" || event.key === " ") chooseRow(view, position);
  else if (event.key === "PageDown") turn(view, ROWS);
  else if (event.key === "PageUp") turn(view, -ROWS);
  else if (event.key in steps) focusRow(view, Math.min(Math.max(steps[event.key], 0), last));
  else return;
  event.preventDefault();
}

function focusRow(view, position) {
  setAttribute(view.body.children[view.focus], "tabindex", "-1");
  view.focus = position;
  setAttribute(view.body.children[position], "tabindex", "0");
  view.body.children[position].focus();
}
