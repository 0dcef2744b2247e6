import assert from "node:assert/strict";
import { test } from "node:test";
import { TOKEN } from "./server.mjs";
import { changed, eventually, following, isRunning, isStopped, show, withPage } from "./support.mjs";

const REFUSED = /status of 401/;

test("without its key the page says what to do, and shows nothing", () =>
  withPage("queue", { address: ({ origin }) => `${origin}/`, expected: REFUSED }, async ({ juror, page }) => {
    await page.getByText("Open the address that juror printed, with all that follows the #.").waitFor();
    assert.deepEqual(
      juror.requests.filter((request) => request.includes("/api/")),
      ["GET /api/static"],
    );
    assert.equal(await page.getByRole("button").count(), 0);
  }));

test("the key leaves the address, and a reload still has it", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    await show(juror, page, isRunning);
    assert.equal(page.url(), `${juror.origin}/`);
    await page.reload();
    await eventually(() => page.locator("#status").textContent(), "▶ running", "the status");
    assert.ok(juror.requests.every((request) => !request.includes(TOKEN)));
  }));

test("an address with another key that is entered in the same tab is taken", () =>
  withPage(
    "queue",
    { address: ({ origin }) => `${origin}/#wrong-key-of-another-run`, expected: REFUSED },
    async ({ juror, page }) => {
      await page.getByText("juror did not accept this page").waitFor();
      await page.goto(juror.address);
      await show(juror, page, isRunning);
    },
  ));

test("a lost connection is told, and taken up again by itself", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    const running = await show(juror, page, isRunning);
    juror.last = null;
    juror.cut();
    await page.getByText("The connection to juror is lost; the page tries again.").waitFor();
    await following(juror);
    await page.locator("#notice").waitFor({ state: "hidden" });
    // The numbers of the new stream begin anew.
    juror.send({ ...running, sequence: 1, status: "ended", end: null });
    await eventually(() => page.locator("#status").textContent(), "● ended", "the status");
  }));

test("an old snapshot is not drawn over a new one", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    const stopped = await show(juror, page, isStopped);
    juror.send({ ...stopped, sequence: 1, status: "loaded" });
    juror.send(
      changed(stopped, (copy) => {
        copy.status = "running";
      }),
    );
    const seen = await page.evaluate(
      () =>
        new Promise((done) => {
          const texts = [];
          const status = document.getElementById("status");
          const observer = new MutationObserver(() => {
            texts.push(status.textContent);
            if (status.textContent.includes("running")) {
              observer.disconnect();
              done(texts);
            }
          });
          observer.observe(status, { childList: true, characterData: true, subtree: true });
          if (status.textContent.includes("running")) done(texts);
        }),
    );
    assert.ok(!seen.some((text) => text.includes("loaded")), "the old snapshot was drawn");
  }));

test("a page that nobody looks at does not follow the run", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    await show(juror, page, isRunning);
    const hide = (hidden) =>
      page.evaluate((value) => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => value });
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    await hide(true);
    await eventually(() => juror.streams.size, 0, "the stream is closed");
    juror.send({ ...juror.data.snapshots.find(isStopped), sequence: 90 });
    await hide(false);
    await following(juror);
    await eventually(() => page.locator("#status").textContent(), /stopped/, "the status");
  }));

test("a line that is no snapshot is told, and the next one taken", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    await show(juror, page, isRunning);
    for (const stream of juror.streams) stream.write("{ not JSON\n");
    await page.getByText("juror sent something that the page could not read").waitFor();
    juror.send(juror.data.snapshots.find(isStopped));
    await eventually(() => page.locator("#status").textContent(), /stopped/, "the status");
    assert.equal(await page.locator("#notice").isVisible(), false);
  }));

test("a property that is added while the program stands gets its picture", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    const stopped = await show(juror, page, isStopped);
    const added = { ...juror.data.static.properties[0], name: "another" };
    juror.data.static.properties.push(added);
    juror.send(
      changed(stopped, (copy) => {
        copy.properties.push({ ...copy.properties[0], name: "another" });
      }),
    );
    await page.getByRole("img", { name: /^Automaton of another/ }).waitFor();
    assert.equal(await page.locator("svg.juror").count(), 2);
    await page
      .getByRole("region", { name: "another" })
      .getByRole("button", { name: "Show its slices" })
      .click();
    await page.getByRole("heading", { name: "Slices of another" }).waitFor();
  }));
