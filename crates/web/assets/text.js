// Text for people: words for verdicts and states of the run, and what makes any text safe to read.
//
// How the modules of this page are joined to one file, for a report that is opened without a
// server: take them in any order, with page.js last; drop each line that begins with "import "; drop the
// word "export " at the beginning of a line; put the result into one <script type="module">. Hence
// each import is one line, each export is a declaration, no two modules have a top-level name in common,
// and nothing but page.js does anything when it is loaded. No module contains the end tag of a script.
//
// The report has its data in <script type="application/json" id="snapshot">, with each "<" as "\u003c":
// { "static": as /api/static, "snapshot": a line of /api/stream,
//   "slices": { the name of a property: as /api/slices } }

// Characters that change the direction or the width of what stands beside them.
const INVISIBLE = /[\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff]/g;
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/g;
const CONTROL_HIGH = /[\u0080-\u009f]/g;

/** Returns a text in which control characters and marks of direction are seen, not obeyed. */
export function visible(text) {
  return String(text)
    .replace(CONTROL, (c) => (c === "\u007f" ? "\u2421" : String.fromCharCode(0x2400 + c.charCodeAt(0))))
    .replace(CONTROL_HIGH, escaped)
    .replace(INVISIBLE, escaped);
}

/** Returns a visible text on one line. */
export function oneLine(text) {
  return visible(text).replace(/\n/g, "\u240a").replace(/\t/g, "\u2409");
}

function escaped(c) {
  return `\\u{${c.charCodeAt(0).toString(16)}}`;
}

const VERDICTS = {
  satisfied: { symbol: "✓", word: "satisfied", tone: "good" },
  presumably_satisfied: { symbol: "○", word: "presumably satisfied", tone: "calm" },
  presumably_violated: { symbol: "!", word: "presumably violated", tone: "warning" },
  violated: { symbol: "✗", word: "violated", tone: "bad" },
};

/** Returns symbol, word and tone of a verdict. */
export function verdictWords(verdict) {
  return VERDICTS[verdict] ?? { symbol: "?", word: oneLine(verdict ?? "unknown"), tone: "calm" };
}

const STATUSES = {
  loaded: { symbol: "◇", word: "loaded" },
  running: { symbol: "▶", word: "running" },
  stopped: { symbol: "■", word: "stopped" },
  ended: { symbol: "●", word: "ended" },
};

/** Returns symbol and word of the status of the run. */
export function statusWords(status) {
  return STATUSES[status] ?? { symbol: "?", word: oneLine(status ?? "unknown") };
}

const REASONS = {
  violation: () => "a property is violated",
  monitor_error: () => "a property could not be evaluated",
  breakpoint: (stop) => `breakpoint ${(stop.numbers ?? []).join(", ")}`.trim(),
  signal: (stop) => `signal ${oneLine(stop.signal ?? "")}`.trim(),
  step: () => "the step is done",
  finished: () => "the function has returned",
  interrupted: () => "interrupted",
  started: () => "at the beginning of main",
};

/** Returns why the program stands, in words. */
export function reasonWords(stop) {
  const words = REASONS[stop?.reason];
  return words ? words(stop) : oneLine(stop?.reason ?? "").replaceAll("_", " ");
}

/** Returns how the run ended, in words. */
export function endingWords(end) {
  const ending = end?.ending;
  switch (ending?.how) {
    case "exited":
      return `exit status ${ending.status}`;
    case "killed":
      return `signal ${ending.signal}`;
    case "detached":
      return "detached";
    default:
      return "";
  }
}

/** Returns a count with a thin space between groups of three digits, and its noun. */
export function counted(count, noun) {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Returns a number with a narrow space between groups of three digits. */
export function grouped(count) {
  return String(count ?? 0).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** Returns the last part of a path. */
export function baseName(path) {
  return oneLine(path ?? "").replace(/^.*\//, "");
}

/** Returns a location as `main.c:16`, or the function, or the address. */
export function placeWords(location) {
  if (!location) return "";
  if (location.file && location.line) return `${baseName(location.file)}:${location.line}`;
  if (location.function) return oneLine(location.function);
  if (location.module) return oneLine(location.module);
  return location.address ? `0x${Number(location.address).toString(16)}` : "";
}

/** Returns named values as `size = 12, queue = 0x40`. */
export function valuesWords(values) {
  return (values ?? []).map(({ name, value }) => `${oneLine(name)} = ${valueWords(value)}`).join(", ");
}

/** Returns a value of JSON as text. */
export function valueWords(value) {
  return oneLine(typeof value === "object" ? JSON.stringify(value) : String(value));
}

/** Returns a time in nanoseconds with a unit that suits it. */
export function timeWords(nanoseconds) {
  if (nanoseconds === null || nanoseconds === undefined) return "";
  const units = [
    ["s", 1e9],
    ["ms", 1e6],
    ["µs", 1e3],
  ];
  const found = units.find(([, size]) => nanoseconds >= size);
  return found ? `${(nanoseconds / found[1]).toFixed(3)} ${found[0]}` : `${nanoseconds} ns`;
}
