import { inspect } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { Logger } from "../../src/platform/log.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { CORPUS } from "../core/secret-shapes.ts";
import { listTexts } from "./support/list-texts.ts";
import { watchLiveOutput } from "./support/live-output.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

const PRINTED = CORPUS.map(([, text], index) => `line ${index}\n${text}\n`).join("\n");

/** A block without an end, which hides everything after it. */
const ENDLESS = CORPUS.findIndex(([name]) => name === "OpenSSH");

/** Prints every shape of a key as its result, while it runs, and in the message of its failure. */
const leak = defineTool({
  name: "leak",
  description: "Prints keys",
  inputSchema: z.object({ how: z.enum(["answers", "fails"]) }),
  replay: "pure",
  execute: ({ how }, { onUpdate: update, onProgress: progress }) => {
    update(PRINTED);
    for (const line of PRINTED.split("\n\n")) progress(line);
    if (how === "fails") throw new Error(PRINTED);
    return PRINTED;
  },
});

const logged: string[] = [];
const keep = (...said: unknown[]) => logged.push(inspect(said, { depth: 9, maxStringLength: null }));

let stage: TestEnvironment;
beforeAll(async () => {
  const log = { debug: keep, info: keep, warn: keep, error: keep } as unknown as Logger;
  stage = await openTestEnvironment({ tools: [leak], log });
});
afterAll(() => stage.close());

test("with `redact.toolOutput` no key that a tool prints is in transcript, history, request, live output or log [DBG-03.2-4]", async () => {
  const session = stage.session({
    replies: [
      { toolCalls: [{ name: "leak", arguments: { how: "answers" } }] },
      { toolCalls: [{ name: "leak", arguments: { how: "fails" } }] },
      { text: "I see." },
    ],
    agent: { tools: ["leak"], redact: { toolOutput: true } },
  });
  const live = watchLiveOutput(stage, session);
  await session.run("Go");
  const { events } = await session.handle.fetchHistory();
  const { raw } = await session.handle.describe();
  const steps = await stage.transcript.readSteps(session.id);
  const places = {
    transcript: [await session.readEntries(), await session.readEvents(), steps],
    history: [events, raw],
    request: session.listRequests().map(({ body }) => body),
    live: await live.all(),
    log: logged,
  };
  expect(session.listRequests()).toHaveLength(3);
  expect(ENDLESS).toBeGreaterThan(100);
  // All other output arrived.
  const [answered = "", failed = ""] = (await session.readConversation()).filter((said) =>
    said.startsWith("toolResult"),
  );
  for (const result of [answered, failed]) {
    for (let index = 0; index <= ENDLESS; index += 1) expect(result).toContain(`line ${index}\n`);
  }
  for (const [where, holds] of Object.entries(places)) {
    const texts = listTexts(holds).join("\n");
    const seen = CORPUS.filter(([, , secret]) => texts.includes(secret)).map(([name]) => name);
    expect(seen, where).toEqual([]);
  }
});
