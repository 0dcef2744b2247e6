// The header: program, status, verdicts, and trouble with the connection.

import { announce } from "./announce.js";
import { make, makeMark, patchList, setMark, setShown, setText } from "./dom.js";
import { checkedWords } from "./questions.js";
import { endNow } from "./store.js";
import { endingWords, oneLine, placeWords, reasonWords, statusWords, verdictWords } from "./text.js";

/** Creates the header. */
export function createHeader(fixed, announcer) {
  const name = [fixed.program, ...(fixed.arguments ?? [])].map(oneLine).join(" ");
  setText(document.getElementById("program"), name);
  setText(document.getElementById("version"), fixed.version ? `juror ${oneLine(fixed.version)}` : "");
  document.title = `${name} – juror`;
  const status = makeMark("");
  document.getElementById("status").append(status);
  return { status, verdicts: document.getElementById("verdicts"), announcer };
}

/** Draws the status, and announces what has changed. */
export function drawHeader(view, store) {
  const { fixed, snapshot } = store;
  if (fixed.mode === "model") {
    const words = checkedWords(fixed.questions ?? []);
    setMark(view.status, words);
    announce(view.announcer, "status", words.word);
    return;
  }
  if (!snapshot) return;
  const words = statusNow(store);
  setMark(view.status, words);
  announce(view.announcer, "status", words.word);
  patchList(view.verdicts, snapshot.properties ?? [], createChip, (chip, property) => {
    const { symbol, word, tone } = verdictWords(property.verdict);
    setText(chip.firstElementChild, symbol);
    setText(chip.lastElementChild, `${oneLine(property.name)}: ${word}`);
    if (chip.dataset.tone !== tone) chip.dataset.tone = tone;
    announce(view.announcer, `property ${property.name}`, `${oneLine(property.name)}: ${word}`);
  });
}

function createChip() {
  return make(
    "span",
    { class: "verdict" },
    make("span", { class: "symbol", "aria-hidden": "true" }),
    " ",
    make("bdi"),
  );
}

function statusNow(store) {
  const { snapshot } = store;
  const { symbol, word } = statusWords(snapshot.status);
  const tone = snapshot.status === "stopped" && snapshot.stop?.reason === "violation" ? "bad" : null;
  if (snapshot.status === "stopped" && snapshot.stop) {
    // The place in the user's own code says more than that in a library.
    const place = placeWords(snapshot.stop.source_frame?.location ?? snapshot.stop.location);
    return { symbol, tone, word: `${word}: ${reasonWords(snapshot.stop)}${place && `, at ${place}`}` };
  }
  if (snapshot.status === "ended") {
    const how = endingWords(endNow(store));
    return { symbol, tone, word: how ? `${word}: ${how}` : word };
  }
  return { symbol, tone, word };
}

const NOTICES = {
  unauthorized:
    "juror did not accept this page: its address lacks the key. " +
    "Open the address that juror printed, with all that follows the #.",
  lost: "The connection to juror is lost; it has probably ended. The page shows the last state.",
  reconnecting: "The connection to juror is lost; the page tries again. It shows the last state.",
  unreadable: "juror sent something that the page could not read; a part of what is shown may be old.",
};

/** Shows or hides the notice about the connection; `again` tries to connect. */
export function showNotice(told, again) {
  const notice = document.getElementById("notice");
  setShown(notice, told !== null);
  const text = told === null ? "" : (NOTICES[told.kind] ?? oneLine(told.message ?? ""));
  if (notice.dataset.text === text) return;
  notice.dataset.text = text;
  notice.replaceChildren(text);
  if (told?.kind !== "lost") return;
  const button = make("button", { type: "button" }, "Try again");
  button.addEventListener("click", again);
  notice.append(" ", button);
}
