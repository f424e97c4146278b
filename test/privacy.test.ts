import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { connect } from "../src/client/connect.ts";
import type { Holdfast } from "../src/client/holdfast.ts";
import { type DevServer, startDevServer } from "../src/devserver/start-server.ts";
import { createLogger } from "../src/observability/log.ts";
import { eventually } from "../src/testing/eventually.ts";
import { type ModelServer, startModelServer } from "../src/testing/model-server/server.ts";
import { testAgent } from "../src/testing/test-agent.ts";
import { defineTool } from "../src/tools/tool.ts";
import { createWorker, type HoldfastWorker } from "../src/worker.ts";
import { environmentOf } from "./codec/keys.ts";

/** One for each place that words come from: whatever is found says where it was let out. */
const MARKS = {
  prompt: "HOLLYHOCK-PROMPT",
  system: "HOLLYHOCK-SYSTEM",
  argument: "HOLLYHOCK-ARGUMENT",
  output: "HOLLYHOCK-OUTPUT",
  live: "HOLLYHOCK-LIVE",
  answer: "HOLLYHOCK-ANSWER",
  steering: "HOLLYHOCK-STEERING",
  followUp: "HOLLYHOCK-FOLLOWUP",
  refusal: "HOLLYHOCK-REFUSAL",
  schedule: "HOLLYHOCK-SCHEDULE",
  stop: "HOLLYHOCK-STOP",
} as const;

Object.assign(process.env, environmentOf("TEST_PRIVACY"));
const encryption = { keys: "k1=env:TEST_PRIVACY" };

let folder: string;
let server: DevServer;
let model: ModelServer;
let holdfast: Holdfast;
let worker: HoldfastWorker;
let working: Promise<void>;

const recite = defineTool({
  name: "recite",
  description: "Says a word",
  parameters: z.object({ word: z.string() }),
  execute: (_, { update }) => {
    update(`${MARKS.live}\n`);
    return `${MARKS.output} `.repeat(200);
  },
});

const guarded = defineTool({
  name: "guarded",
  description: "Asks first",
  parameters: z.object({ word: z.string() }),
  confirm: true,
  execute: () => "done",
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-privacy-"));
  server = await startDevServer({ dataDir: join(folder, "server") });
  model = await startModelServer();
  const at = { address: server.address, namespace: server.namespace, home: join(folder, "home") };
  worker = await createWorker({
    ...at,
    encryption,
    tools: [recite, guarded],
    secrets: () => "a-key-of-the-vendor",
    defaultWorkspace: folder,
    log: createLogger("silent"),
  });
  working = worker.run();
  holdfast = await connect({ ...at, encryption });
  await holdfast.health({ register: true });
});

afterAll(async () => {
  await holdfast?.close();
  worker?.shutdown();
  await working;
  await model?.stop();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

function filesBelow(path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesBelow(join(path, name)));
}

/** Which files say which words: plain, in base64, in UTF-16. */
function found(): string[] {
  return filesBelow(folder).flatMap((file) => {
    const bytes = readFileSync(file);
    return Object.values(MARKS)
      .filter((word) =>
        [word, Buffer.from(word).toString("base64").slice(0, -4), Buffer.from(word, "utf16le")].some((form) =>
          bytes.includes(form),
        ),
      )
      .map((word) => `${file.slice(folder.length)}: ${word}`);
  });
}

test("with both on, no file of Temporal's or of ours says what anybody has said [TMP-09]", async () => {
  const session = "marked";
  const agent = testAgent(model, {
    systemPrompt: `You are ${MARKS.system}`,
    tools: ["recite", "guarded"],
    model: { headers: { "x-conversation": session } },
  });
  const word = MARKS.argument;
  model.script({
    conversations: [
      {
        match: ({ conversation }) => conversation === session,
        replies: [
          { text: MARKS.answer, toolCalls: [{ name: "recite", arguments: { word } }] },
          { text: MARKS.answer, toolCalls: [{ name: "guarded", arguments: { word } }] },
          { text: MARKS.answer },
          { text: MARKS.answer },
          { text: MARKS.answer },
        ],
      },
    ],
  });
  const run = await holdfast.start({ agent, prompt: `Say ${MARKS.prompt}`, session });
  const [waiting] = await eventually(
    async () => {
      const calls = await run.approvals();
      return calls.length === 0 ? undefined : calls;
    },
    { what: "a call that waits for a person" },
  );
  expect(waiting?.tool).toBe("guarded");
  await run.steer(MARKS.steering);
  await run.followUp(MARKS.followUp);
  await run.refuse(undefined, { reason: MARKS.refusal });
  expect(await run.result()).toMatchObject({ text: MARKS.answer });
  await holdfast.schedules.create({
    name: "nightly",
    everyMs: 3_600_000,
    paused: true,
    agent,
    task: MARKS.schedule,
  });
  const other = await holdfast.start({ agent, mode: "interactive", session: "waits" });
  await other.stop(MARKS.stop);
  const told = JSON.stringify(await run.messages());
  const { stop: _, schedule: __, live: ___, system: ____, ...inRecord } = MARKS;
  for (const mark of Object.values(inRecord)) expect(told).toContain(mark);

  expect(
    filesBelow(folder)
      .map((file) => file.replace(/.*\./, ""))
      .sort(),
  ).toEqual(expect.arrayContaining(["db"]));
  expect(found()).toEqual([]);
});
