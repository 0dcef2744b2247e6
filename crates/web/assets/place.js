// The place in a run that can be made again: a time line of its schedule points. Where its knob is
// released, the program stands.

import { make, setAttribute, setShown, setText } from "./dom.js";
import { execute } from "./commands.js";
import { grouped } from "./text.js";

/** Creates the time line of the places; `commands` is null in a report. */
export function createPlace(commands) {
  const section = document.getElementById("place");
  const view = { section, commands, isHeld: false };
  view.knob = make("input", { type: "range", min: "0", step: "1", "aria-labelledby": "place-heading" });
  view.words = make("p", { class: "note" });
  section.append(view.knob, view.words);
  view.knob.addEventListener("input", () => {
    view.isHeld = true;
    drawWords(view, Number(view.knob.value));
  });
  // It is told when the knob is released, or a key has moved it.
  view.knob.addEventListener("change", async () => {
    if (view.commands) await execute(view.commands, `goto ${view.knob.value}`);
    view.isHeld = false;
    if (view.place) drawKnob(view);
  });
  return view;
}

/** Draws the place, unless the knob is being dragged. */
export function drawPlace(view, store) {
  const { place, status } = store.snapshot ?? {};
  setShown(view.section, Boolean(place && place.last > 0));
  if (!place) return;
  view.place = place;
  view.knob.disabled = !view.commands || status === "running";
  if (!view.isHeld) drawKnob(view);
}

function drawKnob(view) {
  setAttribute(view.knob, "max", view.place.last);
  view.knob.value = view.place.point;
  drawWords(view, view.place.point);
}

function drawWords(view, point) {
  const words = `schedule point ${grouped(point)} of ${grouped(view.place.last)} that were seen`;
  setText(view.words, words);
  setAttribute(view.knob, "aria-valuetext", words);
}
