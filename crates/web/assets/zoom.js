// The part of the time line that is shown: a window with both ends, or all of it. juror divides the part
// that is shown into marks anew; a report has only the marks that it was saved with.

import { announce } from "./announce.js";
import { ask } from "./connection.js";
import { make, setAttribute } from "./dom.js";

/** Creates the zoom; `changed` is called when another part is shown. */
export function createZoom(connection, announcer, changed) {
  const zoom = { connection, announcer, changed, window: null, whole: null, chosen: null, asked: 0, since: 0 };
  const button = (label, key, act) => {
    const made = make("button", { type: "button", "aria-keyshortcuts": key }, label, " ", make("kbd", {}, key));
    made.addEventListener("click", act);
    return made;
  };
  zoom.larger = button("zoom in", "+", () => zoomBy(zoom, 0.5));
  zoom.smaller = button("zoom out", "-", () => zoomBy(zoom, 2));
  zoom.reset = button("all", "0", () => showPart(zoom, null));
  const group = { class: "zoom", role: "group", "aria-label": "Zoom of the time line" };
  zoom.buttons = make("div", group, zoom.larger, zoom.smaller, zoom.reset);
  return zoom;
}

/** Takes the window of a snapshot, unless the user has asked for another one since. */
export function takeZoom(zoom, events, sequence) {
  const buckets = events.buckets ?? [];
  zoom.whole = {
    from: events.from_ns ?? Math.min(...buckets.map((bucket) => bucket.from_ns)),
    to: events.to_ns ?? Math.max(...buckets.map((bucket) => bucket.to_ns)),
  };
  const { window } = events;
  if (zoom.connection && zoom.asked === 0 && sequence >= zoom.since)
    zoom.window = window ? { from: window.from_ns, to: window.to_ns } : null;
  setAttribute(zoom.larger, "aria-disabled", span(zoom) > 1 ? null : "true");
  setAttribute(zoom.smaller, "aria-disabled", zoom.window ? null : "true");
  setAttribute(zoom.reset, "aria-disabled", zoom.window ? null : "true");
}

/** Returns the marks of the part that is shown. */
export function shownMarks(zoom, buckets) {
  const { window } = zoom;
  return window ? buckets.filter((it) => it.to_ns > window.from && it.from_ns <= window.to) : buckets;
}

/** Takes a key of the time line. Returns whether it was one of the zoom. */
export function takeZoomKey(zoom, event, isAtEdge) {
  const { key, shiftKey } = event;
  const moves = shiftKey || isAtEdge;
  if (key === "+" || key === "=") zoomBy(zoom, 0.5);
  else if (key === "-") zoomBy(zoom, 2);
  else if (key === "0") showPart(zoom, null);
  else if (key === "ArrowRight" && moves && zoom.window) move(zoom, 1);
  else if (key === "ArrowLeft" && moves && zoom.window) move(zoom, -1);
  else return false;
  return true;
}

function span(zoom) {
  const { from, to } = zoom.window ?? zoom.whole ?? { from: 0, to: 0 };
  return to - from;
}

// The chosen mark stays where it is on the screen, as far as that is possible.
function zoomBy(zoom, factor) {
  if (!zoom.whole || (factor < 1 ? span(zoom) <= 1 : !zoom.window)) return;
  const shown = zoom.window ?? zoom.whole;
  const width = Math.max(Math.round(span(zoom) * factor), 1);
  const at = Math.min(Math.max(zoom.chosen?.at ?? shown.to, shown.from), shown.to);
  const from = Math.round(at - (at - shown.from) * (width / Math.max(span(zoom), 1)));
  showPart(zoom, { from, to: from + width });
}

function move(zoom, direction) {
  const by = Math.max(Math.round(span(zoom) / 2), 1) * direction;
  showPart(zoom, { from: zoom.window.from + by, to: zoom.window.to + by });
}

// Shows a part within all that there is; a part that is as wide is all.
function showPart(zoom, wanted) {
  const { whole } = zoom;
  if (!whole || (wanted === null && zoom.window === null)) return;
  const width = wanted === null ? Infinity : wanted.to - wanted.from;
  const from = wanted && Math.max(Math.min(wanted.from, whole.to - width), whole.from);
  const next = width >= whole.to - whole.from ? null : { from, to: from + width };
  if (next && zoom.window?.from === next.from && zoom.window.to === next.to) return;
  zoom.window = next;
  if (zoom.connection) tell(zoom);
  zoom.changed();
}

// Snapshots that were on their way have the part before; the answer says which is the first that has this one.
async function tell(zoom) {
  zoom.asked += 1;
  const { window } = zoom;
  try {
    const wanted = window && { from_ns: window.from, to_ns: window.to };
    const { sequence } = await ask(zoom.connection, "/api/zoom", { window: wanted });
    zoom.since = sequence;
  } catch {
    announce(zoom.announcer, "zoom", "juror did not answer; the marks are those of the part before");
  }
  zoom.asked -= 1;
}
