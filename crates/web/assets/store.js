// The one state of the page. Snapshots are taken as they come; views are drawn at most once a frame,
// from the last snapshot alone.

const LIT_MS = 1000;

/** Creates the state; `draw` is called once for each frame in which something has changed. */
export function createStore(draw) {
  const store = {
    fixed: null,
    snapshot: null,
    // The property whose slices and path are shown.
    property: null,
    saved: null,
    connected: false,
    lit: new Map(),
    sequence: -1,
    scheduled: false,
    stopShown: null,
  };
  store.changed = () => {
    if (store.scheduled) return;
    store.scheduled = true;
    requestAnimationFrame(() => {
      store.scheduled = false;
      draw(store);
      if (store.lit.size > 0) keepTime(store);
    });
  };
  return store;
}

/** Takes what does not change while the program runs. */
export function takeStatic(store, fixed) {
  store.fixed = fixed;
  const names = (fixed.properties ?? []).map(({ name }) => name);
  if (!names.includes(store.property)) store.property = names[0] ?? null;
  store.changed();
}

/** Takes a snapshot; one that is not newer than the last is dropped. */
export function takeSnapshot(store, snapshot) {
  if (snapshot.sequence <= store.sequence) return;
  store.sequence = snapshot.sequence;
  store.snapshot = snapshot;
  const until = performance.now() + LIT_MS;
  // Transitions of snapshots that are never drawn must light up, too.
  for (const property of snapshot.properties ?? []) {
    for (const edge of property.lit ?? []) store.lit.set(`${property.name}\n${edge}`, until);
  }
  const violated = newlyViolated(store, snapshot);
  if (violated) store.property = violated;
  store.changed();
}

/** Prepares for a new stream, whose numbers may begin anew. */
export function restartSequence(store) {
  store.sequence = -1;
}

/** Returns whether a transition was taken within the last second. */
export function isLit(store, property, edge) {
  return store.lit.has(`${property}\n${edge}`);
}

/** Returns the part of the snapshot about a property. */
export function propertyNow(store, name) {
  return store.snapshot?.properties?.find((property) => property.name === name) ?? null;
}

/** Returns the violations at which the program stands, or which its end has made. */
export function violationsNow(store) {
  const { stop, status } = store.snapshot ?? {};
  if (status === "stopped") return stop?.violations ?? [];
  return endNow(store)?.violations ?? [];
}

/** Returns the end of the run, if it has ended; that of a recording is within another. */
export function endNow(store) {
  const { end, status } = store.snapshot ?? {};
  return status === "ended" ? (end?.end ?? end ?? null) : null;
}

/** Returns the names of the properties that the report is about as violated. */
export function violatedNow(store) {
  const summaries = endNow(store)?.summaries ?? [];
  const violated = summaries.filter(({ verdict, violations }) => violations > 0 || verdict === "violated");
  return [...new Set([...violationsNow(store), ...violated].map(({ property }) => property))];
}

// A property is chosen once when the program stops at its violation; the choice of the user stays until
// the next such stop.
function newlyViolated(store, snapshot) {
  const { stop, status } = snapshot;
  const shown = status === "stopped" && stop?.violations?.length ? JSON.stringify(stop) : null;
  if (shown === store.stopShown) return null;
  store.stopShown = shown;
  const names = (store.fixed?.properties ?? []).map(({ name }) => name);
  return (shown && stop.violations.find(({ property }) => names.includes(property))?.property) ?? null;
}

// Transitions go out without a snapshot: a stopped program sends none.
function keepTime(store) {
  const now = performance.now();
  const next = Math.min(...store.lit.values());
  setTimeout(
    () => {
      const late = performance.now();
      for (const [key, until] of store.lit) if (until <= late) store.lit.delete(key);
      store.changed();
    },
    Math.max(next - now, 50),
  );
}
