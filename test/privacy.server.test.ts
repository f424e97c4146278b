import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { connect } from "../src/client/connection/connect.ts";
import type { Holdfast } from "../src/client/holdfast.ts";
import type { DevServer } from "../src/devserver/dev-server.ts";
import { startDevServer } from "../src/devserver/start-server.ts";
import { createLogger } from "../src/platform/log.ts";
import { openHub } from "../src/store/stream/open-hub.ts";
import { type ModelServer, startModelServer } from "../src/testing/model-server/server.ts";
import { createTestAgent } from "../src/testing/test-agent.ts";
import { defineTool } from "../src/tools/tool.ts";
import { createWorker } from "../src/worker.ts";
import { createKeyEnvironment } from "./codec/key-environment.ts";
import { containsText } from "./support/encoded-text.ts";
import { eventually } from "./support/eventually.ts";
import { thoroughTest } from "./support/test-depth.ts";

/** One word for each source of text: a word that is found shows where it leaked. */
const marksOf = (word: string) => ({
  prompt: `${word}-PROMPT`,
  system: `${word}-SYSTEM`,
  argument: `${word}-ARGUMENT`,
  output: `${word}-OUTPUT`,
  live: `${word}-LIVE`,
  answer: `${word}-ANSWER`,
  steering: `${word}-STEERING`,
  followUp: `${word}-FOLLOWUP`,
  refusal: `${word}-REFUSAL`,
  schedule: `${word}-SCHEDULE`,
  stop: `${word}-STOP`,
});

Object.assign(process.env, createKeyEnvironment("TEST_PRIVACY"));

/**
 * The same story twice on one server, each with its own home: once encrypted, and once in plain text to prove that
 * the search finds it.
 */
const SEALED = {
  name: "sealed",
  marks: marksOf("HOLLYHOCK"),
  encryption: { keys: "k1=env:TEST_PRIVACY" },
};
const PLAIN = { name: "plain", marks: marksOf("MARIGOLD"), encryption: { keys: "" } };
type World = typeof SEALED;

let folder: string;
let server: DevServer;
let model: ModelServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-privacy-"));
  server = await startDevServer({ dataDir: join(folder, "server") });
  model = await startModelServer();
});

afterAll(async () => {
  await model?.stop();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

function filesBelow(path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesBelow(join(path, name)));
}

type Look = { readonly files: readonly string[]; readonly found: readonly string[] };

/** All non-empty files of the server and of every home, and which of them contain which words. */
function look({ marks }: World): Look {
  const files = filesBelow(folder).map((path) => ({ path, bytes: readFileSync(path) }));
  const name = (path: string) => path.slice(folder.length);
  return {
    files: files.filter(({ bytes }) => bytes.length > 0).map(({ path }) => name(path)),
    found: files.flatMap(({ path, bytes }) =>
      Object.values(marks)
        .filter((word) => containsText(bytes, word))
        .map((word) => `${name(path)}: ${word}`),
    ),
  };
}

/** Searches the files while a tool prints output, and at the end, while the worker is still running. */
async function play(world: World): Promise<{ atWork: Look; atEnd: Look }> {
  const { name, marks, encryption } = world;
  const home = join(folder, name);
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const recite = defineTool({
    name: "recite",
    description: "Says a word",
    inputSchema: z.object({ word: z.string() }),
    execute: async (_, { onUpdate: update }) => {
      update(`${marks.live}\n`);
      await gate;
      return `${marks.output} `.repeat(200);
    },
  });
  const guarded = defineTool({
    name: "guarded",
    description: "Asks first",
    inputSchema: z.object({ word: z.string() }),
    needsApproval: true,
    execute: () => "done",
  });
  const at = {
    address: server.address,
    namespace: server.namespace,
    taskQueue: name,
    home,
    database: "",
    encryption,
  };
  const worker = await createWorker({
    ...at,
    tools: [recite, guarded],
    secrets: () => "a-key-of-the-vendor",
    defaultWorkspace: folder,
    log: createLogger("silent"),
  });
  const working = worker.run();
  const holdfast = await connect(at);
  const hub = await openHub({ folder: home, database: undefined, encryption });
  try {
    await holdfast.health({ register: true });
    return await tell(world, holdfast, async (session) => {
      const shown = async () => JSON.stringify(await hub.readSnapshot(session)).includes(marks.live);
      await eventually(shown, { what: "what the tool shows" });
      const atWork = look(world);
      open();
      return atWork;
    });
  } finally {
    open();
    await hub.close();
    await holdfast.close();
    worker.shutdown();
    await working;
  }
}

async function tell(
  world: World,
  holdfast: Holdfast,
  whileAtWork: (session: string) => Promise<Look>,
): Promise<{ atWork: Look; atEnd: Look }> {
  const { name, marks } = world;
  const session = `${name}-marked`;
  const agent = createTestAgent(model, {
    systemPrompt: `You are ${marks.system}`,
    tools: ["recite", "guarded"],
    model: { headers: { "x-conversation": session } },
  });
  const word = marks.argument;
  model.script({
    conversations: [
      {
        match: ({ conversation }) => conversation === session,
        replies: [
          { text: marks.answer, toolCalls: [{ name: "recite", arguments: { word } }] },
          { text: marks.answer, toolCalls: [{ name: "guarded", arguments: { word } }] },
          { text: marks.answer },
          { text: marks.answer },
          { text: marks.answer },
        ],
      },
    ],
  });
  const run = await holdfast.start({ agent, prompt: `Say ${marks.prompt}`, session });
  const atWork = await whileAtWork(session);
  const [waiting] = await eventually(
    async () => {
      const calls = await run.approvals.list();
      return calls.length === 0 ? undefined : calls;
    },
    { what: "a call that waits for a person" },
  );
  expect(waiting?.tool).toBe("guarded");
  await run.steer(marks.steering);
  await run.followUp(marks.followUp);
  await run.approvals.deny(undefined, { reason: marks.refusal });
  expect(await run.result()).toMatchObject({ text: marks.answer });
  await holdfast.schedules.create({
    name: `${name}-nightly`,
    everyMs: 3_600_000,
    paused: true,
    agent,
    task: marks.schedule,
  });
  const other = await holdfast.start({ agent, mode: "interactive", session: `${name}-waits` });
  await other.stop(marks.stop);
  const told = JSON.stringify(await run.messages.list());
  const { stop: _, schedule: __, live: ___, system: ____, ...inRecord } = marks;
  for (const mark of Object.values(inRecord)) expect(told).toContain(mark);
  return { atWork, atEnd: look(world) };
}

test("with encryption of both parts, no file of Temporal or of Holdfast contains text of the conversation [TMP-09.2, TMP-09.4]", async () => {
  const { atWork, atEnd } = await play(SEALED);
  expect(atWork.files).toContainEqual(expect.stringMatching(/^\/sealed\/live\/./));
  for (const { files, found } of [atWork, atEnd]) {
    expect(files).toEqual(
      expect.arrayContaining([
        "/server/temporal.sqlite",
        "/server/temporal.sqlite-wal",
        "/sealed/transcript.db",
        "/sealed/transcript.db-wal",
      ]),
    );
    expect(found).toEqual([]);
  }
});

thoroughTest(
  "without encryption, the same search finds the text in Temporal's database, in the transcript and in live output",
  async () => {
    const { atWork, atEnd } = await play(PLAIN);
    const { prompt, output, answer, live } = PLAIN.marks;
    expect(atWork.found).toContainEqual(expect.stringMatching(new RegExp(`^/plain/live/.*: ${live}$`)));
    for (const mark of [prompt, output, answer]) {
      for (const file of ["server/temporal.sqlite", "plain/transcript.db"]) {
        expect(atEnd.found).toContainEqual(expect.stringMatching(new RegExp(`^/${file}(-wal)?: ${mark}$`)));
      }
    }
  },
);

thoroughTest.each([0, 1, 2])(
  "the search finds a word in base64 that begins %i bytes after a multiple of three",
  async (before) => {
    const text = `${"x".repeat(3 + before)}${SEALED.marks.prompt} and more`;
    const planted = join(folder, "planted");
    await writeFile(planted, `"${Buffer.from(text).toString("base64")}"`);
    expect(look(SEALED).found).toEqual([`/planted: ${SEALED.marks.prompt}`]);
    await rm(planted);
  },
);
