// The properties: each as its automaton, with a table that says the same.

import { adoptDrawing, makeFrame, markState, showState } from "./drawing.js";
import { make, makeDetails, makeMark, makeRow, makeTable, patchList, setAttribute, setCells } from "./dom.js";
import { setClass, setMark, setShown, setText } from "./dom.js";
import { isLit, propertyNow } from "./store.js";
import { baseName, counted, grouped, oneLine, verdictWords, visible } from "./text.js";

/** Creates the view of all properties; `choose` gets the name of the one that the user selects. */
export function createProperties(container, fixed, choose) {
  const views = fixed.properties.map((property, position) => createAutomaton(property, position, choose));
  container.append(...views.map((view) => view.section));
  return views;
}

function createAutomaton(property, position, choose) {
  const heading = make("h2", { id: `property-${position}` }, make("bdi", {}, oneLine(property.name)));
  const verdict = makeMark("verdict");
  const counts = make("span", { class: "counts" });
  const select = make("button", { type: "button", class: "select" }, "Show its slices");
  setAttribute(select, "aria-describedby", heading.id);
  select.addEventListener("click", () => choose(property.name));
  const section = make("section", { class: "panel property", "aria-labelledby": heading.id });
  const head = make("div", { class: "heading" }, heading, verdict, counts, select);
  section.append(head);
  if (property.description)
    section.append(make("p", { class: "description" }, make("bdi", {}, visible(property.description))));
  const view = { property, section, verdict, counts, select, drawing: null, frame: null };
  section.append(createPicture(view, heading.id));
  if (view.frame) select.before(view.frame.zoom);
  view.note = make("p", { class: "note", hidden: true }, "The history is off: transitions do not light up.");
  section.append(view.note, createStates(view), createText(property));
  return view;
}

function createPicture(view, headingId) {
  const { property } = view;
  if (!property.svg) return make("p", { class: "note" }, "This property has no drawing.");
  try {
    view.drawing = adoptDrawing(property.svg);
  } catch (error) {
    return make("p", { class: "note" }, `Not drawn: ${oneLine(error.message)}.`);
  }
  const { svg, notes } = view.drawing;
  setAttribute(svg, "role", "img");
  setAttribute(svg, "focusable", "false");
  view.frame = makeFrame(view.drawing, {
    class: "picture",
    tabindex: "0",
    role: "group",
    "aria-labelledby": headingId,
  });
  const lines = notes.map((note) => make("p", { class: "note" }, visible(note)));
  return make("div", {}, ...lines, view.frame.frame);
}

function createStates(view) {
  const heads = ["State", "Meaning", "Now", "Slices"];
  const { table, body } = makeTable(`States of ${oneLine(view.property.name)}`, heads);
  view.rows = body;
  return makeDetails("States as a table", table);
}

function createText(property) {
  const text = make("pre", { tabindex: "0", "aria-label": `Text of ${oneLine(property.name)}` });
  setText(text, visible(property.source ?? ""));
  return makeDetails(`Text of the property, ${baseName(property.file)}`, text);
}

/** Draws the state of a property. */
export function drawAutomaton(view, store) {
  const name = view.property.name;
  const now = propertyNow(store, name);
  const isChosen = store.property === name;
  setClass(view.section, "chosen", isChosen && store.fixed.properties.length > 1);
  setShown(view.select, store.fixed.properties.length > 1);
  setAttribute(view.select, "aria-pressed", String(isChosen));
  if (!now) return;
  setMark(
    view.verdict,
    now.enabled === false ? { symbol: "–", word: "disabled", tone: "calm" } : verdictWords(now.verdict),
  );
  setText(view.counts, sliceWords(now));
  setShown(view.note, now.lit === null);
  const states = statesNow(view.property, now);
  patchList(
    view.rows,
    states,
    () => makeRow(4, true),
    (row, state) => {
      setCells(row, [
        oneLine(state.state),
        state.sort,
        state.current ? "now" : "",
        state.slices === null ? "" : grouped(state.slices),
      ]);
      setClass(row, "now", state.current);
    },
  );
  if (view.drawing) drawPicture(view, store, states);
}

// A property without slices is in some state from the beginning.
function sliceWords(now) {
  const slices = now.slice_count > 0 ? [counted(now.slice_count, "slice")] : [];
  if (now.slice_count === 0 && !now.states?.length) slices.push("no slice yet");
  const violations = now.violated_count > 0 ? [counted(now.violated_count, "violation")] : [];
  return [...slices, ...violations].join(", ");
}

function statesNow(property, now) {
  const found = new Map((now.states ?? []).map((state) => [state.state, state]));
  return property.states.map(({ state, sort }) => {
    const present = found.get(state);
    const slices = now.slice_count > 0 ? (present?.slices ?? 0) : null;
    // A property without slices is in one state; the others have none.
    return { state, sort, slices, current: (slices === null || slices > 0) && Boolean(present?.current) };
  });
}

function drawPicture(view, store, states) {
  const { svg, states: groups, edges } = view.drawing;
  states.forEach((state, position) => {
    const group = groups.get(`state-${position}`);
    if (group) markState(group, state.current ? tagWords(state) : null);
  });
  for (const [id, group] of edges) setClass(group, "lit", isLit(store, view.property.name, id));
  const present = states.filter((state) => state.current);
  const told = present.find((state) => state.sort === "violation") ?? present[0];
  showState(view.frame, told ? `state-${states.indexOf(told)}` : null);
  const places = present.map((state) =>
    state.slices ? `${oneLine(state.state)} (${counted(state.slices, "slice")})` : oneLine(state.state),
  );
  setAttribute(
    svg,
    "aria-label",
    `Automaton of ${oneLine(view.property.name)}; now: ${places.join(", ") || "no state"}`,
  );
}

function tagWords(state) {
  return state.slices ? `now · ${grouped(state.slices)}` : "now";
}
