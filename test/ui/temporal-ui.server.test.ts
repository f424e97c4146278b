import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { startModelServer } from "../../src/testing/model-server/server.ts";
import { createWorker, type HoldfastWorker } from "../../src/worker.ts";
import { BROWSER, launchBrowser, NO_BROWSER } from "../support/browser.ts";
import { describeIf } from "../support/skipping.ts";
import { thoroughTest } from "../support/test-depth.ts";

/** Screenshots for manual inspection. */
const PICTURES = join(tmpdir(), "holdfast-screenshots");

describeIf(BROWSER !== undefined, NO_BROWSER)("what an operator sees in the Temporal UI", () => {
  const { address, namespace, uiUrl } = inject("temporal");
  const taskQueue = randomUUID();
  const session = randomUUID();
  let worker: HoldfastWorker;
  let working: Promise<void>;
  let browser: Browser;
  let page: Page;
  let run = "";
  let stopModel: () => Promise<void>;

  beforeAll(async () => {
    const home = mkdtempSync(join(tmpdir(), "holdfast-ui-"));
    const model = await startModelServer({
      replies: [
        { text: "I look.", toolCalls: [{ name: "bash", arguments: { command: "echo one two" } }] },
        { text: "It is done." },
      ],
    });
    stopModel = () => model.stop();
    worker = await createWorker({ address, namespace, taskQueue, home, defaultWorkspace: home });
    working = worker.run();
    const connection = await Connection.connect({ address });
    const client = new Client({ connection, namespace });
    const handle = await client.workflow.start("agent", {
      taskQueue,
      workflowId: session,
      staticSummary: "see what an operator sees",
      args: [
        {
          prompt: "see what an operator sees",
          definition: {
            name: "watched",
            model: {
              id: "scripted-model",
              api: "anthropic_messages",
              provider: "anthropic",
              baseUrl: model.anthropicBaseUrl,
              contextWindow: 200_000,
            },
            tools: ["bash"],
          },
        },
      ],
    });
    await handle.result();
    run = `${uiUrl}/namespaces/${namespace}/workflows/${session}/${handle.firstExecutionRunId}`;
    await connection.close();
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
    mkdirSync(PICTURES, { recursive: true });
  });

  afterAll(async () => {
    await browser?.close();
    worker?.shutdown();
    await working;
    await stopModel?.();
  });

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
