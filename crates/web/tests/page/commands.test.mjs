import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, eventually, isRunning, isStopped, show, withPage } from "./support.mjs";

const lines = (juror) =>
  juror.commands.map(({ line, interrupt }) => line ?? (interrupt && "interrupt")).join();
const answers = (page) => page.getByRole("log", { name: "Answers" });

test("buttons and keys send the prompt's commands", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    for (const name of ["continue", "step", "next", "finish", "checkpoint"]) {
      await page.getByRole("button", { name: new RegExp(`^${name}`) }).click();
    }
    await page.locator("#main").focus();
    for (const key of "csnfk") await page.keyboard.press(key);
    const five = "continue,step,next,finish,checkpoint";
    await eventually(() => lines(juror), `${five},${five}`, "the commands");
  }));

test("only interrupt is possible while the program runs, and nothing but run at the end", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    const running = await show(juror, page, isRunning);
    const next = page.getByRole("button", { name: /^next/ });
    await eventually(() => next.getAttribute("aria-disabled"), "true", "next is not possible");
    await page.keyboard.press("n");
    await next.click({ force: true });
    await page.keyboard.press("i");
    await eventually(() => lines(juror), "interrupt", "the commands");
    juror.send(
      changed(running, (copy) => {
        copy.status = "ended";
      }),
    );
    await eventually(
      () => page.getByRole("button", { name: /^interrupt/ }).getAttribute("aria-disabled"),
      "true",
      "the end",
    );
    await page.keyboard.press("i");
    await page.keyboard.press("r");
    await eventually(() => lines(juror), "interrupt,run", "the commands");
  }));

test("a button that is not possible any more keeps the focus", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    const stopped = await show(juror, page, isStopped);
    const button = page.getByRole("button", { name: /^continue/ });
    await button.focus();
    await page.keyboard.press("Enter");
    juror.send(
      changed(stopped, (copy) => {
        copy.status = "running";
      }),
    );
    await eventually(() => button.getAttribute("aria-disabled"), "true", "the button");
    assert.equal(await button.evaluate((element) => element === document.activeElement), true);
  }));

test("a line is answered as the prompt would, and comes back from the history", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    await page.locator("#main").focus();
    await page.keyboard.press(":");
    await page.keyboard.type("backtrace");
    await page.keyboard.press("Enter");
    await eventually(
      () => answers(page).locator("pre").last().textContent(),
      juror.data.answers.backtrace.text,
      "the answer",
    );
    await page.keyboard.type("print nothing");
    await page.keyboard.press("Enter");
    await eventually(
      () => answers(page).locator("pre").last().textContent(),
      "✗ failed: there is no `nothing` here",
      "the failure",
    );
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    assert.equal(await page.getByLabel("Command", { exact: true }).inputValue(), "backtrace");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    assert.equal(await page.getByLabel("Command", { exact: true }).inputValue(), "");
    assert.equal(lines(juror), "backtrace,print nothing");
  }));

test("single keys are text in a field, and can be switched off", () =>
  withPage("queue", {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    await page.getByLabel("Filter").fill("");
    await page.getByLabel("Filter").pressSequentially("cs");
    await page.getByLabel("single keys").uncheck();
    await page.locator("#main").focus();
    await page.keyboard.press("n");
    await page.getByLabel("single keys").check();
    await page.locator("#main").focus();
    await page.keyboard.press("Control+f");
    await page.keyboard.press("f");
    await eventually(() => lines(juror), "finish", "the commands");
    assert.equal(await page.getByLabel("Filter").inputValue(), "cs");
  }));

test("a recording goes in both directions, and to an event of the path", async () => {
  const { fixture } = await import("./server.mjs");
  const data = fixture("queue");
  data.static.mode = "recorded";
  await withPage(data, {}, async ({ juror, page }) => {
    await show(juror, page, isStopped);
    await page.getByRole("button", { name: /^reverse-step/ }).click();
    await page.getByRole("button", { name: "go to" }).first().click();
    await eventually(() => lines(juror), "reverse-step,goto 2", "the commands");
    assert.equal(await page.getByRole("button", { name: /^finish/ }).count(), 0);
  });
});
