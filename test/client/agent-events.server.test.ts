import { afterAll, beforeAll, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { AgentEvent } from "../../src/schema/agent-event.ts";
import { SentSessionEvent } from "../../src/schema/session-event.ts";
import { connectClient, runCommandLine } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";

let stage: TestEnvironment;
let holdfast: Holdfast;
beforeAll(async () => {
  stage = await openTestEnvironment();
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

const LONG = "one two three four five six seven eight";

test("events arrive while an answer is produced, and together they match the record: each once, in order [LOOP-23.1-3, EVT-16.1, TYP-20.5, EVT-02.4, PHI-13f.1, TMP-05.2, X-34.1]", async () => {
  const session = stage.session({
    replies: [
      { text: "First.", toolCalls: [{ name: "bash", arguments: { command: "echo out" } }] },
      { text: LONG, chunkSize: 4, holdUntil: "gate" },
    ],
    agent: { name: "teller", tools: ["bash"] },
  });
  await session.start("Go");
  const seen: AgentEvent[] = [];
  const recordedSoFar: AgentEvent[] = [];
  let liveWords = "";
  for await (const { event } of holdfast.session(session.id).events()) {
    expect(AgentEvent.parse(JSON.parse(JSON.stringify(event)))).toEqual(event);
    seen.push(event);
    const isSecond = event.type === "MessageUpdate" && event.message.turnId?.turnIndex === 1;
    if (!isSecond || liveWords !== "") continue;
    // The vendor has not finished its answer yet: it continues after a reader has seen the beginning.
    const [part] = event.message.content;
    liveWords = part?.type === "text" ? part.text : "";
    // A reader that does not follow gets what is recorded, and leaves although the run is open.
    for await (const one of holdfast.session(session.id).events({ from: "session", follow: false })) {
      recordedSoFar.push(one.event);
    }
    stage.model.release("gate");
  }
  expect(recordedSoFar.length).toBeGreaterThan(5);
  expect(recordedSoFar.map(({ type }) => type)).not.toContain("MessageUpdate");
  expect(liveWords).not.toBe("");
  expect(LONG.startsWith(liveWords) && liveWords !== LONG).toBe(true);

  const passing = ["MessageUpdate", "ToolExecutionUpdate", "ProgressMessage"];
  const durable = seen.filter(({ type }) => !passing.includes(type));
  expect(durable.map(({ type }) => type)).toEqual(await session.readEventTypes());
  const typesSoFar = recordedSoFar.map(({ type }) => type);
  expect(durable.slice(0, recordedSoFar.length).map(({ type }) => type)).toEqual(typesSoFar);
  expect(seen[0]).toMatchObject({
    type: "AgentStart",
    agentId: (await holdfast.session(session.id).record()).agentId,
    agentName: "teller",
    sessionId: session.id,
    continuationKind: { type: "initial" },
    configSnapshot: { model: "test-model", provider: expect.any(String) },
  });
  expect(seen[0]).toMatchObject({
    agentId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}$/),
  });
  const recorded = (await session.readEntries()).map(({ message }) => message);
  expect(seen.at(-1)).toMatchObject({ type: "AgentEnd", messages: recorded });
  const ends = seen.flatMap((event) => (event.type === "MessageEnd" ? [event.message] : []));
  expect(ends).toEqual(recorded);
  // A reader that connects after the end reads the same events from the record.
  const later: AgentEvent[] = [];
  for await (const { event } of holdfast.session(session.id).events()) later.push(event);
  expect(later.map(({ type }) => type)).toEqual(durable.map(({ type }) => type));
  expect(later.at(-1)).toEqual(seen.at(-1));
  const { out } = await runCommandLine(stage, "show", session.id, "--events", "--json");
  const lines = out.trim().split("\n");
  const printed = lines.map((line) => SentSessionEvent.parse(JSON.parse(line)).event);
  expect(printed).toEqual(later);
});
