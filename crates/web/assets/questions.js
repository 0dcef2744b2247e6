// The questions of a check of a model: the answer of each, what was searched, and why it is violated.

import { make, makeMark, makeTable, setClass, setMark, setShown, setText } from "./dom.js";
import { oneLine, visible } from "./text.js";

const ANSWERS = {
  holds: { symbol: "✓", word: "holds", tone: "good" },
  violated: { symbol: "✗", word: "violated", tone: "bad" },
  incomplete: { symbol: "!", word: "incomplete", tone: "warning" },
  not_checked: { symbol: "–", word: "not checked", tone: "calm" },
};

/** Returns symbol, word and tone of the answer to a question. */
export function answerWords(verdict) {
  return ANSWERS[verdict] ?? { symbol: "?", word: oneLine(verdict ?? "unknown"), tone: "calm" };
}

/** Returns symbol, word and tone of all answers together: the worst of them. */
export function checkedWords(questions) {
  const worst = ["violated", "incomplete", "not_checked", "holds"];
  const verdict = worst.find((it) => questions.some((question) => question.verdict === it));
  const { symbol, word, tone } = answerWords(verdict ?? "holds");
  const named = questions.filter((question) => question.verdict === verdict).map((it) => oneLine(it.question));
  return { symbol, tone, word: word === "holds" ? "the model holds" : `${word}: ${named.join(", ")}` };
}

/** Shows the questions of a check, and the report of the one that is violated. */
export function createQuestions(questions) {
  const section = document.getElementById("questions");
  setShown(section, questions.length > 0);
  const { table, body } = makeTable("Questions", ["Question", "Answer", "Searched"]);
  body.append(...questions.map(createQuestionRow));
  section.append(table);
  const violated = questions.find(({ verdict }) => verdict === "violated");
  if (!violated) return;
  const report = document.getElementById("report");
  setShown(report, true);
  setClass(report, "violated", true);
  setText(document.getElementById("report-heading"), `✗ Violated: ${oneLine(violated.question)}`);
  const told = violated.told || violated.why || "";
  setText(document.getElementById("report-text"), visible(told.trimEnd()));
}

function createQuestionRow({ question, about, verdict, why, searched }) {
  const mark = makeMark("verdict");
  setMark(mark, answerWords(verdict));
  const head = make("th", { scope: "row" }, oneLine(question));
  if (about) head.append(make("p", { class: "note" }, oneLine(about)));
  const answer = make("td", {}, mark);
  if (why) answer.append(make("p", { class: "note why" }, visible(why)));
  return make("tr", {}, head, answer, make("td", {}, oneLine(searched ?? "")));
}
