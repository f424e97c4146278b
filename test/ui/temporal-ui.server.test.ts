import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { buildListUrl, buildSetupScript, buildViewLinks } from "../../src/apps/cli/temporal-ui.ts";
import { connect, type Holdfast, type Session } from "../../src/client/index.ts";
import { omitUndefined } from "../../src/platform/text/omit-undefined.ts";
import type { ModelScript } from "../../src/testing/model-server/script.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server/server.ts";
import { createTestAgent } from "../../src/testing/test-agent.ts";
import { createWorker, type HoldfastWorker } from "../../src/worker.ts";
import { BROWSER, launchBrowser, NO_BROWSER } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { describeIf } from "../support/skipping.ts";
import { thoroughTest } from "../support/test-depth.ts";

/** Screenshots for manual inspection. */
const PICTURES = join(tmpdir(), "holdfast-screenshots");

describeIf(BROWSER !== undefined, NO_BROWSER)("what an operator sees in the Temporal UI", () => {
  const { address, namespace, uiUrl } = inject("temporal");
  const taskQueue = randomUUID();
  const list = buildListUrl(uiUrl, namespace);
  const models: ModelServer[] = [];
  let session = "";
  let holdfast: Holdfast;
  let connection: Connection;
  let client: Client;
  let worker: HoldfastWorker;
  let working: Promise<void>;
  let browser: Browser;
  let page: Page;
  let run = "";

  beforeAll(async () => {
    const home = mkdtempSync(join(tmpdir(), "holdfast-ui-"));
    worker = await createWorker({
      address,
      namespace,
      taskQueue,
      home,
      defaultWorkspace: home,
      secrets: () => "key",
    });
    working = worker.run();
    holdfast = await connect({ address, namespace, taskQueue, home });
    connection = await Connection.connect({ address });
    client = new Client({ connection, namespace });
    const watched = await start("see what an operator sees", {
      replies: [
        { text: "I look.", toolCalls: [{ name: "bash", arguments: { command: "echo one two" } }] },
        { text: "It is done." },
      ],
    });
    await watched.result();
    session = watched.id;
    run = `${list}/${session}/${watched.runId}`;
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
    mkdirSync(PICTURES, { recursive: true });
  });

  afterAll(async () => {
    await browser?.close();
    worker?.shutdown();
    await working;
    await holdfast?.close();
    await connection?.close();
    for (const model of models) await model.stop();
  });

  async function start(
    prompt: string,
    {
      replies,
      permissions,
    }: { replies: NonNullable<ModelScript["replies"]>; permissions?: { otherwise: "ask" } },
  ): Promise<Session> {
    const model = await startModelServer({ replies });
    models.push(model);
    const agent = createTestAgent(model, {
      name: "watched",
      model: { id: "scripted-model" },
      tools: ["bash"],
      ...omitUndefined({ permissions }),
    });
    return holdfast.start({ agent, prompt });
  }

  async function seen(path: string, text: string): Promise<void> {
    await page.goto(run + path);
    await page.getByText(text, { exact: false }).first().waitFor({ timeout: 15_000 });
    await page.screenshot({ path: join(PICTURES, `${path.slice(1)}.png`) });
  }

  test("the timeline names a tool call by the tool, its turn and its command", async () => {
    await seen("/timeline", "turn 0 · echo one two");
    const words = await page.locator("body").innerText();
    expect(words).toMatch(/bash • turn 0 · echo one two/);
    expect(words).toMatch(/model • turn 1 · scripted-model/);
    expect(words).toMatch(/open-loop/);
  });

  thoroughTest(
    "a call that waits for an approval is a bar with its command until it is answered",
    async () => {
      const waiting = await start("Publish the package", {
        replies: [
          { toolCalls: [{ name: "bash", arguments: { command: "echo published" } }] },
          { text: "Published." },
        ],
        permissions: { otherwise: "ask" },
      });
      await page.goto(`${list}/${waiting.id}`);
      await page.getByText("approval: bash echo published").first().waitFor({ timeout: 15_000 });
      await page.screenshot({ path: join(PICTURES, "approval.png") });
      const history = () => client.workflow.getHandle(waiting.id).fetchHistory();
      const count = async (type: "timerStartedEventAttributes" | "timerCanceledEventAttributes") =>
        (await history()).events?.filter((event) => event[type] != null).length;
      expect([
        await count("timerStartedEventAttributes"),
        await count("timerCanceledEventAttributes"),
      ]).toEqual([1, 0]);
      const [call] = await waiting.approvals.list();
      await waiting.approvals.approve(call?.toolCallId);
      await waiting.result();
      expect(await count("timerCanceledEventAttributes")).toBe(1);
    },
  );

  thoroughTest(
    "after `holdfast ui`, the list has titles, agents and what a stop has ended, and the views are saved",
    async () => {
      const stopped = await start("Wait for the build", {
        replies: [{ toolCalls: [{ name: "bash", arguments: { command: "sleep 60" } }] }],
      });
      await eventually(async () => (await stopped.status()).status === "running");
      await stopped.stop("enough");
      await stopped.result();
      await page.goto(list);
      await page.evaluate(buildSetupScript(namespace));
      const row = page.getByRole("row").filter({ hasText: stopped.id });
      await row.waitFor({ timeout: 15_000 });
      await page.screenshot({ path: join(PICTURES, "list.png") });
      expect(await row.innerText()).toMatch(/COMPLETED\s+stopped\s+Wait for the build\s+watched/i);

      await page.getByText("Saved Views").click();
      await page.getByText("Needs approval", { exact: true }).waitFor();
      await page.screenshot({ path: join(PICTURES, "views.png") });

      const { name, url } = buildViewLinks(list)[2] ?? { name: "", url: "" };
      await page.evaluate("localStorage.clear()");
      await page.goto(url);
      await row.waitFor({ timeout: 15_000 });
      expect(await page.locator("body").innerText()).not.toContain(session);
      const saved = await page.evaluate<string>('localStorage.getItem("saved-workflow-queries")');
      expect(JSON.parse(saved)).toMatchObject({ [namespace]: [{ name }] });
      await page.goto(`${list}/${stopped.id}/${stopped.runId}/memo`);
      await page.getByText("anthropic/scripted-model").first().waitFor({ timeout: 15_000 });
    },
  );

  thoroughTest("the current details are a small dashboard", async () => {
    await page.goto(`${run}/user-metadata`);
    // The UI renders Markdown in its own frame.
    const words = await vi.waitFor(
      async () => {
        const texts = await Promise.all(page.frames().map((one) => one.locator("body").innerText()));
        expect(texts.join("\n")).toContain("Last text");
        return texts.join("\n");
      },
      { timeout: 15_000, interval: 100 },
    );
    await page.screenshot({ path: join(PICTURES, "user-metadata.png") });
    expect(words).toMatch(/Goal.*see what an operator sees/);
    expect(words).toMatch(/Last text.*It is done\./);
    expect(words).toMatch(/Turns.*2 of 50/);
  });

  thoroughTest("the search attributes state agent, model, status and turns", async () => {
    await seen("/search-attributes", "HoldfastStatus");
    const words = await page.locator("body").innerText();
    for (const said of [
      "HoldfastAgent",
      "watched",
      "HoldfastModel",
      "scripted-model",
      "completed",
      "HoldfastTurns",
    ]) {
      expect(words).toContain(said);
    }
  });
});
