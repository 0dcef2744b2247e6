// The commands of the prompt: buttons, keys, and a line with its answers.

import { announce } from "./announce.js";
import { ask } from "./connection.js";
import { make, setAttribute, setShown, setText } from "./dom.js";
import { visible } from "./text.js";

const HISTORY_MAX = 200;
const ANSWERS_MAX = 50;
const ANSWER_CHARACTERS_MAX = 20000;

const LIVE = [
  { line: "run", key: "r", when: ["loaded", "ended"] },
  { line: "continue", key: "c", when: ["stopped"] },
  { line: "step", key: "s", when: ["stopped"] },
  { line: "next", key: "n", when: ["stopped"] },
  { line: "finish", key: "f", when: ["stopped"] },
  { line: "interrupt", key: "i", when: ["running"] },
  { line: "checkpoint", key: "k", when: ["stopped"] },
];
// In a run that can be made again.
const BACK = [
  { line: "reverse-step", key: "b", when: ["stopped"] },
  { line: "reverse-next", key: "v", when: ["stopped"] },
  { line: "reverse-continue", key: "u", when: ["stopped", "ended"] },
];
const RECORDED = [
  { line: "continue", key: "c", when: ["loaded", "stopped"] },
  { line: "step", key: "s", when: ["loaded", "stopped"] },
  { line: "reverse-step", key: "b", when: ["stopped", "ended"] },
  { line: "reverse-continue", key: "r", when: ["stopped", "ended"] },
  { line: "interrupt", key: "i", when: ["running"] },
];

function rowsOf({ mode, goes_back: goesBack }) {
  if (mode === "recorded") return RECORDED;
  return goesBack ? [...LIVE, ...BACK] : LIVE;
}

/** Creates toolbar and prompt. */
export function createCommands(connection, fixed, announcer) {
  const view = {
    connection,
    announcer,
    rows: rowsOf(fixed),
    buttons: [],
    status: null,
    history: [],
    position: 0,
  };
  const toolbar = document.getElementById("toolbar");
  for (const row of view.rows) toolbar.append(createButton(view, row));
  toolbar.append(createKeySwitch(view));
  createPrompt(view);
  document.addEventListener("keydown", (event) => takeKey(view, event));
  setShown(toolbar, true);
  setShown(document.getElementById("prompt"), true);
  return view;
}

function createButton(view, row) {
  const button = make(
    "button",
    { type: "button", "aria-keyshortcuts": row.key },
    row.line,
    " ",
    make("kbd", {}, row.key),
  );
  button.addEventListener("click", () => press(view, row));
  view.buttons.push({ button, row });
  return button;
}

// Single keys can be switched off, since speech input and other aids send them by accident.
function createKeySwitch(view) {
  view.keys = make("input", { type: "checkbox", id: "keys", checked: true });
  return make("label", { class: "keys", for: "keys" }, view.keys, " single keys");
}

function createPrompt(view) {
  view.list = make("ol");
  view.answers = make(
    "div",
    { class: "answers", role: "log", "aria-live": "off", "aria-label": "Answers", tabindex: "0" },
    view.list,
  );
  view.line = make("input", {
    id: "line",
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "off",
  });
  const form = make(
    "form",
    { class: "line" },
    make("label", { for: "line" }, "(juror)"),
    view.line,
    make("button", {}, "Execute"),
  );
  setAttribute(form.firstElementChild, "aria-label", "Command");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    execute(view, view.line.value);
    view.line.value = "";
  });
  view.line.addEventListener("keydown", (event) => recall(view, event));
  document.getElementById("prompt").append(view.answers, form);
}

/** Shows which commands are possible now. */
export function drawCommands(view, store) {
  view.status = store.snapshot?.status ?? null;
  for (const { button, row } of view.buttons)
    setAttribute(button, "aria-disabled", isPossible(view, row) ? null : "true");
}

function isPossible(view, row) {
  return row.when.includes(view.status);
}

// A button that is not possible keeps the focus, which a disabled one would lose.
function press(view, row) {
  if (!isPossible(view, row)) return;
  if (row.line === "interrupt") send(view, "interrupt", { interrupt: true });
  else execute(view, row.line);
}

function takeKey(view, event) {
  if (event.key === "Escape" && event.target === view.line) view.line.blur();
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.repeat) return;
  if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
  if (event.key === ":" || event.key === "/") {
    event.preventDefault();
    view.line.focus();
    return;
  }
  const found = view.buttons.find(({ row }) => row.key === event.key);
  if (!found || !view.keys.checked) return;
  event.preventDefault();
  press(view, found.row);
}

/** Executes a line as the prompt would; the answer is listed. */
export function execute(view, text) {
  const line = text.trim();
  if (line === "") return Promise.resolve(null);
  if (view.history.at(-1) !== line) view.history.push(line);
  if (view.history.length > HISTORY_MAX) view.history.shift();
  view.position = view.history.length;
  return send(view, line, { line });
}

async function send(view, line, request) {
  const answer = listAnswer(view, line);
  try {
    const { text, failed } = await ask(view.connection, "/api/command", request);
    showAnswer(view, answer, text ?? "", failed);
    return { text, failed };
  } catch (error) {
    showAnswer(view, answer, error.message || "juror did not answer: the address lacks the key", true);
    return null;
  }
}

function listAnswer(view, line) {
  const text = make("pre", {}, "…");
  const answer = make("li", {}, make("code", {}, `(juror) ${visible(line)}`), text);
  view.list.append(answer);
  while (view.list.children.length > ANSWERS_MAX) view.list.firstElementChild.remove();
  view.answers.scrollTop = view.answers.scrollHeight;
  return { answer, text };
}

function showAnswer(view, { answer, text }, words, failed) {
  const shown = visible(words).trimEnd();
  const cut =
    shown.length > ANSWER_CHARACTERS_MAX ? `${shown.slice(0, ANSWER_CHARACTERS_MAX)}\n… cut here` : shown;
  setText(text, failed ? `✗ failed: ${cut}` : cut);
  setShown(text, failed || cut !== "");
  if (failed) answer.dataset.tone = "bad";
  announce(view.announcer, "answer", text.textContent.split("\n")[0], true);
  view.answers.scrollTop = view.answers.scrollHeight;
}

function recall(view, event) {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  view.position = Math.min(Math.max(view.position + step, 0), view.history.length);
  view.line.value = view.history[view.position] ?? "";
}
