// The cost of a snapshot: the nodes that are changed are counted; times are measured and told, since they
// depend on the machine.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fixture } from "./server.mjs";
import { changed, eventually, following, withPage } from "./support.mjs";

const STATES = 40;
const EDGES = 80;
const MARKS = 600;
const FRAMES = 60;

/** Returns a property with 40 states and 80 transitions over 10⁶ slices, 40 rows, and 600 marks. */
function large() {
  const data = fixture("queue");
  const property = data.static.properties[0];
  const names = Array.from({ length: STATES }, (_, number) => `state_${number}`);
  property.states = names.map((state, number) => ({
    state,
    sort: number === STATES - 1 ? "violation" : "accepting",
  }));
  const at = (number) => ({ x: 60 + (number % 8) * 150, y: 40 + Math.floor(number / 8) * 110 });
  const group = (name, number) => {
    const { x, y } = at(number);
    return `<g id="state-${number}" class="state ${property.states[number].sort}"><rect class="box" x="${x - 45}" y="${y - 14}" width="90" height="28" rx="8"/><text x="${x}" y="${y + 4}">${name}</text></g>`;
  };
  const edge = (_, number) => {
    const [from, to] = [at(number % STATES), at((number * 7 + 1) % STATES)];
    return `<g id="edge-${number}" class="edge"><title>event_${number}</title><path class="line" d="M${from.x} ${from.y}L${to.x} ${to.y}"/><path class="head" d="M${to.x} ${to.y}L${to.x - 4} ${to.y - 7}L${to.x + 4} ${to.y - 7}Z"/><text x="${(from.x + to.x) / 2}" y="${(from.y + to.y) / 2}">event_${number}</text></g>`;
  };
  const edges = Array.from({ length: EDGES }, edge).join("");
  property.svg = `<svg xmlns="http://www.w3.org/2000/svg" class="juror" width="1240" height="560" viewBox="0 0 1240 560"><title>large</title><g transform="translate(0 8)">${edges}${names.map(group).join("")}</g></svg>`;
  const row = (number) => ({
    binding: [{ name: "queue", value: `0x${number}` }],
    state: names[number % STATES],
    verdict: "presumably_satisfied",
    variables: [{ name: "room", value: number }],
  });
  data.slices[property.name] = Array.from({ length: 40 }, (_, number) => row(number));
  data.counted = { [property.name]: 1_000_000 };
  data.first = snapshot(data, names);
  return data;
}

function snapshot(data, names) {
  const first = structuredClone(data.snapshots[0]);
  first.status = "running";
  Object.assign(first.properties[0], {
    slice_count: 1_000_000,
    states: names.map((state, number) => ({ state, current: true, slices: 25_000 + number })),
    lit: [],
    chosen: data.snapshots[20].properties[0].chosen,
    path: data.snapshots[20].properties[0].path,
  });
  first.events = {
    total: MARKS,
    buckets: Array.from({ length: MARKS }, (_, number) => ({
      thread: 1 + (number % 6),
      from_ns: number * 1e6,
      to_ns: (number + 1) * 1e6,
      count: 1 + (number % 50),
      verdict: null,
    })),
  };
  return first;
}

/** Counts what changes in the document until the next frame but one after a snapshot was drawn. */
async function changesBy(juror, page, next) {
  await page.evaluate(() => {
    window.changes = [];
    window.observer ??= new MutationObserver((records) =>
      window.changes.push(
        ...records.map(
          ({ type, target, attributeName }) =>
            `${type} ${attributeName ?? ""} ${target.id || target.nodeName}`,
        ),
      ),
    );
    window.observer.observe(document, {
      subtree: true,
      childList: true,
      attributes: true,
      characterData: true,
    });
  });
  juror.send(next);
  await page.evaluate(
    (sequence) =>
      new Promise((done) => {
        const wait = () =>
          window.drawn >= sequence ? requestAnimationFrame(done) : requestAnimationFrame(wait);
        wait();
      }),
    next.sequence,
  );
  return page.evaluate(() => window.changes);
}

/** Tells the page's own draws apart: each JSON text that it reads is a snapshot or an answer. */
async function watch(page) {
  await page.addInitScript(() => {
    window.drawn = -1;
    const { parse } = JSON;
    JSON.parse = (text) => {
      const value = parse(text);
      if (typeof value?.sequence === "number")
        requestAnimationFrame(() =>
          requestAnimationFrame(() => {
            window.drawn = value.sequence;
          }),
        );
      return value;
    };
  });
  await page.reload();
}

test("a snapshot changes only the nodes of what has changed", () =>
  withPage(large(), {}, async ({ juror, page }) => {
    await watch(page);
    await following(juror);
    const { first } = juror.data;
    juror.send(first);
    await eventually(() => page.locator("#slices tbody tr").count(), 40, "the slices");
    await eventually(() => page.locator("g.state.now").count(), STATES, "the states");
    const same = changed(first, () => {});
    assert.deepEqual(await changesBy(juror, page, same), [], "nothing has changed");
    const one = changed(same, (copy) => {
      copy.properties[0].states[3].slices += 1;
    });
    const changes = await changesBy(juror, page, one);
    // The count in the picture, in the table and in the words about it.
    assert.ok(changes.length > 0 && changes.length <= 6, `${changes.length} changes: ${changes.join("; ")}`);
    const lit = changed(one, (copy) => {
      copy.properties[0].lit = ["edge-3", "edge-9"];
    });
    assert.equal((await changesBy(juror, page, lit)).length, 2, "two transitions light up");
    const mark = changed(lit, (copy) => {
      copy.events.buckets[599].count += 1;
    });
    const marks = await changesBy(juror, page, mark);
    // The words about the last mark, and two transitions that go out meanwhile.
    assert.ok(marks.length <= 8, `${marks.length} changes: ${marks.join("; ")}`);
  }));

test("everything changes twenty times a second, and the page follows", (context) =>
  withPage(large(), {}, async ({ juror, page }) => {
    await following(juror);
    await eventually(() => page.locator("svg g.state").count(), STATES, "the drawing");
    juror.send(juror.data.first);
    await eventually(() => page.locator("#slices tbody tr").count(), 40, "the slices");
    await page.evaluate(() => {
      window.tasks = [];
      new PerformanceObserver((list) =>
        window.tasks.push(...list.getEntries().map(({ duration }) => duration)),
      ).observe({ type: "longtask" });
      window.frames = [];
      let last = performance.now();
      const step = (now) => {
        window.frames.push(now - last);
        last = now;
        requestAnimationFrame(step);
      };
      requestAnimationFrame(step);
    });
    let next = juror.data.first;
    for (let frame = 0; frame < FRAMES; frame += 1) {
      next = changed(next, (copy) => {
        const [now] = copy.properties;
        for (const state of now.states) state.slices += 1 + frame;
        now.lit = [
          `edge-${(frame * 3) % EDGES}`,
          `edge-${(frame * 5) % EDGES}`,
          `edge-${(frame * 7) % EDGES}`,
        ];
        for (const bucket of copy.events.buckets)
          Object.assign(bucket, { count: bucket.count + 1, to_ns: bucket.to_ns + 1000 });
        copy.events.total += MARKS;
      });
      juror.send(next);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const total = `Time line: ${String(next.events.total).replace(/\B(?=(\d{3})+$)/g, "\u202f")} events`;
    await eventually(
      () => page.locator("#timeline-heading").textContent(),
      new RegExp(`^${total}$`),
      "the last snapshot",
    );
    const { tasks, frames } = await page.evaluate(() => ({ tasks: window.tasks, frames: window.frames }));
    frames.sort((a, b) => a - b);
    const part = (share) => frames[Math.floor(frames.length * share)].toFixed(1);
    context.diagnostic(
      `${FRAMES} snapshots: ${tasks.length} tasks over 50 ms${tasks.length ? ` (longest ${Math.max(...tasks)} ms)` : ""}; frames: median ${part(0.5)} ms, 95 % ${part(0.95)} ms, longest ${frames.at(-1).toFixed(1)} ms`,
    );
  }));
