// The page of a run: takes what it needs from juror, or from the report that it is part of, and draws
// each part. How the modules are joined to one file is told in text.js.

import { oneLine } from "./text.js";
import { setShown } from "./dom.js";
import { createStore, takeSnapshot, takeStatic } from "./store.js";
import { Unauthorized, ask, createConnection, follow, followAgain } from "./connection.js";
import { createAnnouncer } from "./announce.js";
import { createHeader, drawHeader, showNotice } from "./header.js";
import { createProperties, drawAutomaton } from "./automaton.js";
import { createCommands, drawCommands } from "./commands.js";
import { createStop, drawStop } from "./stop.js";
import { createSlices, drawSlices } from "./slices.js";
import { createPath, drawPath } from "./path.js";
import { createPlace, drawPlace } from "./place.js";
import { createTimeline, drawTimeline } from "./timeline.js";
import { createChart } from "./chart.js";
import { createQuestions } from "./questions.js";

const page = { views: null, connection: null, store: null, announcer: null, asked: null };

/** Begins: with the snapshot of a report if the page has one, else with juror. */
function boot() {
  page.store = createStore(draw);
  page.announcer = createAnnouncer(document.getElementById("announcements"));
  const saved = document.getElementById("snapshot");
  if (saved) showSaved(JSON.parse(saved.textContent));
  else connect();
}

function showSaved(saved) {
  page.store.saved = saved;
  takeStatic(page.store, saved.static);
  createViews();
  takeSnapshot(page.store, saved.snapshot);
  const isModel = saved.static.mode === "model";
  const shown = isModel ? "it shows the answers of a check" : "it shows one moment of a run";
  showNotice({ message: `A saved report: ${shown}, and takes no commands.` });
}

async function connect() {
  const again = () => followAgain(page.connection);
  page.connection = createConnection(page.store, (told) => showNotice(told, again));
  // An address with another key that is entered in the same tab loads nothing by itself.
  addEventListener("hashchange", () => {
    if (location.hash.length > 8) location.reload();
  });
  try {
    takeStatic(page.store, await ask(page.connection, "/api/static"));
  } catch (error) {
    showNotice(
      error instanceof Unauthorized
        ? { kind: "unauthorized" }
        : { message: `juror did not answer: ${oneLine(error.message)}` },
    );
    return;
  }
  createViews();
  if (page.store.fixed.mode !== "model") follow(page.connection);
}

function createViews() {
  const { store, connection } = page;
  const { fixed } = store;
  const takesCommands = connection !== null && fixed.mode !== "model";
  const commands = takesCommands ? createCommands(connection, fixed, page.announcer) : null;
  page.views = {
    header: createHeader(fixed, page.announcer),
    properties: createProperties(document.getElementById("properties"), fixed, chooseProperty),
    commands,
    stop: createStop(commands),
    slices: createSlices(connection, store, page.announcer),
    path: createPath(commands, fixed),
    place: createPlace(commands),
    timeline: createTimeline(connection, page.announcer),
    chart: fixed.chart ? createChart(fixed.chart) : null,
  };
  if (fixed.mode === "model") createQuestions(fixed.questions ?? []);
  document.body.classList.toggle("model", fixed.mode === "model");
  setShown(document.getElementById("properties"), fixed.properties.length > 0);
}

// Properties can be added while the program stands.
async function reloadStatic(store) {
  const names = (all) => (all ?? []).map(({ name }) => name).join("\n");
  const wanted = names(store.snapshot?.properties);
  if (!page.connection || page.asked === wanted || wanted === names(store.fixed.properties)) return;
  page.asked = wanted;
  try {
    takeStatic(store, await ask(page.connection, "/api/static"));
  } catch (error) {
    showNotice({ message: `juror did not answer: ${oneLine(error.message)}` });
    return;
  }
  const container = document.getElementById("properties");
  container.replaceChildren();
  page.views.properties = createProperties(container, store.fixed, chooseProperty);
  setShown(container, store.fixed.properties.length > 0);
}

function chooseProperty(name) {
  page.store.property = name;
  page.store.changed();
}

function draw(store) {
  const { views } = page;
  if (!views) return;
  reloadStatic(store);
  drawHeader(views.header, store);
  // A check of a model has ended, and is not a run.
  if (store.fixed.mode === "model") return;
  for (const view of views.properties) drawAutomaton(view, store);
  if (views.commands) drawCommands(views.commands, store);
  drawStop(views.stop, store);
  drawSlices(views.slices, store);
  drawPath(views.path, store);
  drawPlace(views.place, store);
  drawTimeline(views.timeline, store);
}

boot();
