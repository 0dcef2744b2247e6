// Messages for screen readers: at most one a second, the last of each kind.

import { setText } from "./dom.js";

const SPEECH_PERIOD_MS = 1000;

/** Creates the announcer of a live region. */
export function createAnnouncer(region) {
  return { region, pending: new Map(), known: new Map(), timer: null, last: -SPEECH_PERIOD_MS };
}

/** Announces a text of a kind, unless it was the last of its kind; `again` says it even so. */
export function announce(announcer, kind, text, again = false) {
  if (!again && announcer.known.get(kind) === text) return;
  announcer.known.set(kind, text);
  announcer.pending.set(kind, text);
  if (announcer.timer !== null) return;
  const wait = Math.max(announcer.last + SPEECH_PERIOD_MS - performance.now(), 0);
  announcer.timer = setTimeout(() => speak(announcer), wait);
}

function speak(announcer) {
  announcer.timer = null;
  announcer.last = performance.now();
  const text = [...announcer.pending.values()].join(". ");
  announcer.pending.clear();
  // A region that stays the same is not read again.
  setText(announcer.region, announcer.region.textContent === text ? `${text}\u00a0` : text);
}
