import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { Holdfast } from "../../src/client/index.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { createPng } from "../support/media.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { Gates } from "../workflows/support/gates.ts";
import { connectClient, runCommandLine } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";
import type { TestSession } from "../workflows/support/test-session.ts";

const MARKER = "MARKER-OF-AN-IMAGE ";
const png = (name: string) => createPng(`${name} ${MARKER.repeat(400)}`);
const PDF = Buffer.from(`%PDF-1.4\n<< /Type /Pages /Count 1 >>\n${MARKER.repeat(300)}`);

const gates = new Gates();
const scan = defineTool({
  name: "scan",
  description: "Returns a document",
  inputSchema: z.object({}),
  execute: () => ({
    content: [{ type: "file", mimeType: "application/pdf", name: "scan.pdf", data: PDF.toString("base64") }],
  }),
});

let stage: TestEnvironment;
let holdfast: Holdfast;
beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [scan, gates.createTool()] });
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

/** Every text and every payload of a run's history, decoded. */
async function readRawHistory(session: TestSession, runId?: string): Promise<string> {
  const { events } = await stage.client.workflow.getHandle(session.id, runId).fetchHistory();
  const texts: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === "string") texts.push(value);
    else if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString("utf8"));
    else if (value !== null && typeof value === "object") Object.values(value).forEach(walk);
  };
  walk(events);
  return texts.join("\n");
}

const listData = (session: TestSession, nth: number) => {
  const found: string[] = [];
  JSON.stringify(session.listRequests()[nth]?.body, (key, value: unknown) => {
    if (key === "data" && typeof value === "string") found.push(value);
    return value;
  });
  return found;
};

test("images and files of prompts, steering and tool results reach the model by the store, and no history has their bytes", async () => {
  const session = stage.session({
    replies: [
      { toolCalls: [{ name: "hold", arguments: { gate: "parts" } }] },
      { toolCalls: [{ name: "scan", arguments: {} }] },
      { text: "Seen." },
      { text: "Again." },
    ],
    agent: { tools: ["scan", "hold"] },
  });
  const ours = await holdfast.start({
    agent: session.definition,
    session: session.id,
    prompt: [
      { type: "text", text: "What is this?" },
      { type: "image", bytes: png("first"), name: "first.png" },
      { type: "file", bytes: Buffer.from("# Notes"), name: "notes.md" },
    ],
  });
  await gates.get("parts").arrived;
  await ours.steer([{ type: "image", bytes: png("second") }], { acknowledge: true });
  gates.get("parts").open();
  expect(await session.readResult()).toMatchObject({ text: "Seen." });
  // The worker that continues the session finds the bytes in the store.
  await ours.send([{ type: "file", bytes: PDF, name: "third.pdf" }]);
  expect(await holdfast.session(session.id).result()).toMatchObject({ text: "Again." });

  const [first, second, third] = [png("first"), png("second"), PDF].map((one) => one.toString("base64"));
  expect(listData(session, 0)).toEqual([first]);
  expect(JSON.stringify(session.listRequests()[0]?.body)).toContain("[File notes.md, text/markdown]");
  expect(listData(session, 1)).toEqual([first, second]);
  expect(listData(session, 2)).toEqual([first, second, third]);
  expect(listData(session, 3)).toEqual([first, second, third, third]);

  for (const runId of [ours.runId, undefined]) {
    const raw = await readRawHistory(session, runId);
    expect(raw).toContain('"parts":true');
    expect(raw.includes(MARKER)).toBe(false);
    for (const data of [first, second, third]) expect(raw.includes(data?.slice(100, 200) ?? "")).toBe(false);
  }
  const entries = await session.readEntries();
  expect(entries[0]?.message).toMatchObject({
    content: [{ text: "What is this?" }, { type: "image", data: first }, { type: "file", name: "notes.md" }],
  });
});

test("a model that reads no images refuses them before anything is started, and for a session that has begun", async () => {
  const session = stage.session({ replies: [{ text: "Hello." }], agent: { model: { input: [] } } });
  const prompt = [{ type: "image" as const, bytes: png("no") }];
  const started = holdfast.start({ agent: session.definition, session: session.id, prompt });
  await expect(started).rejects.toMatchObject({ code: "input-unsupported" });
  expect(await holdfast.session(session.id).send("Hi", { agent: session.definition })).toMatchObject({
    delivery: "opened",
  });
  await session.readResult();
  const idle = holdfast.session(session.id);
  const sends = [
    () => idle.send(prompt),
    () => idle.prompt(prompt),
    () => idle.steer(prompt),
    () => idle.followUp(prompt),
  ];
  for (const send of sends) await expect(send()).rejects.toMatchObject({ code: "input-unsupported" });
  expect(session.listRequests()).toHaveLength(1);
});

thoroughTest(
  "a file of the command line reaches the model, and a missing one stops the command with its exit code",
  async () => {
    const session = stage.session({ replies: [{ text: "Hello." }, { text: "Seen." }] });
    await session.run("Hi");
    const path = join(stage.home, "shot.png");
    await writeFile(path, png("shot"));
    const sent = await runCommandLine(stage, "send", session.id, "See", "--attach", path);
    expect(sent).toMatchObject({ code: 0 });
    expect(listData(session, 1)).toEqual([png("shot").toString("base64")]);
    const missing = await runCommandLine(stage, "send", session.id, "See", "--attach", `${path}.gone`);
    expect(missing.code).toBe(2);
    expect(missing.err).toContain("ENOENT");
    expect(session.listRequests()).toHaveLength(2);
  },
);

test("images are left out of a request to a model that does not read them, with a reason", async () => {
  const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
  const ours = await holdfast.start({
    agent: session.definition,
    session: session.id,
    prompt: [{ type: "image", bytes: png("gone"), name: "gone.png" }],
  });
  await ours.result();
  const { model } = session.definition;
  await ours.update({ ...session.definition, model: { ...model, input: [] } });
  await ours.send("And now?");
  await holdfast.session(session.id).result();
  expect(listData(session, 0)).toHaveLength(1);
  expect(listData(session, 1)).toEqual([]);
  expect(session.listSeenMessages(1)[0]).toMatch(
    /^user: \[The image gone\.png 7 KB image\/png is left out: the model .* does not read images\.\]$/,
  );
});
