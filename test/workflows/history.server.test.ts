import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tools/tool.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { Gates } from "./support/gates.ts";
import { openTestEnvironment, TEST_KEY, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

const gates = new Gates();
let stage: TestEnvironment;

const OUTPUT_MARKER = "MARKER-OF-A-TOOL-OUTPUT";
const ANSWER_MARKER = "MARKER-OF-AN-ANSWER";
const ARGUMENT_MARKER = "MARKER-OF-AN-ARGUMENT";
/** More than a preview may display. */
const PADDING = "x".repeat(300);

const blob = defineTool({
  name: "blob",
  description: "Gives back a lot",
  inputSchema: z.object({ kilobytes: z.number(), note: z.string().default("") }),
  execute: ({ kilobytes }) =>
    PADDING + `${OUTPUT_MARKER} `.repeat((kilobytes * 1024) / (OUTPUT_MARKER.length + 1)),
});

beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [blob, gates.createTool()] });
});
afterAll(() => stage.close());

async function size(session: TestSession): Promise<number> {
  const { raw } = await session.handle.describe();
  return Number(raw.workflowExecutionInfo?.historySizeBytes);
}

/** Every text and every payload of the history, decoded. */
async function rawHistory(session: TestSession): Promise<string> {
  const { events } = await session.handle.fetchHistory();
  const texts: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === "string") texts.push(value);
    else if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString("utf8"));
    else if (value !== null && typeof value === "object") Object.values(value).forEach(walk);
  };
  walk(events);
  return texts.join("\n");
}

async function scheduled(session: TestSession): Promise<string[]> {
  const { events } = await session.handle.fetchHistory();
  return (events ?? []).flatMap(
    ({ activityTaskScheduledEventAttributes: one }) => one?.activityType?.name ?? [],
  );
}

const TURNS = 20;

test("a turn with one tool costs two activities and at most 6 KB, with 100 KB of context (design 3.2) [TMP-04, TMP-05.1, TMP-09.1]", async () => {
  const text = `${PADDING} ${ANSWER_MARKER}`;
  const call = (kilobytes: number) => ({
    text,
    toolCalls: [{ name: "blob", arguments: { kilobytes, note: PADDING + ARGUMENT_MARKER } }],
  });
  const session = stage.session({
    replies: [
      call(100),
      { toolCalls: [{ name: "hold", arguments: { gate: "begin" } }] },
      ...Array.from({ length: TURNS }, () => call(1)),
      { toolCalls: [{ name: "hold", arguments: { gate: "end" } }] },
      { text: "Done." },
    ],
    agent: { tools: ["blob", "hold"], limits: { maxTotalTokens: null } },
  });
  await session.start("Go");
  await gates.get("begin").arrived;
  const before = { size: await size(session), scheduled: (await scheduled(session)).length };
  gates.get("begin").open();
  await gates.get("end").arrived;
  const perTurn = ((await size(session)) - before.size) / (TURNS + 1);
  const activities = (await scheduled(session)).slice(before.scheduled);
  gates.get("end").open();
  await session.readResult();
  expect(perTurn).toBeLessThan(6 * 1024);
  expect(activities.filter((type) => type !== "hold")).toEqual([
    ...Array.from({ length: TURNS }, () => ["call-model", "blob"]).flat(),
    "call-model",
  ]);
  const raw = await rawHistory(session);
  expect(raw).toContain("x".repeat(256));
  for (const marker of [OUTPUT_MARKER, ANSWER_MARKER, ARGUMENT_MARKER, TEST_KEY, "KEYMARKER"]) {
    expect(raw.includes(marker), marker).toBe(false);
  }
  expect(raw).not.toMatch(/[^"\s]{2000}/);
});

thoroughTest("a turn's cost does not grow with the number of turns before it", async () => {
  const call = { toolCalls: [{ name: "blob", arguments: { kilobytes: 4 } }] };
  const gate = (name: string) => ({ toolCalls: [{ name: "hold", arguments: { gate: name } }] });
  const ten = Array.from({ length: 10 }, () => call);
  const session = stage.session({
    replies: [
      gate("g0"),
      ...ten,
      gate("g1"),
      ...ten,
      ...ten,
      gate("g2"),
      ...ten,
      gate("g3"),
      { text: "Done." },
    ],
    agent: { tools: ["blob", "hold"], limits: { maxTurns: null, maxTotalTokens: null } },
  });
  await session.start("Go");
  const sizes: number[] = [];
  for (const name of ["g0", "g1", "g2", "g3"]) {
    await gates.get(name).arrived;
    sizes.push(await size(session));
    gates.get(name).open();
  }
  await session.readResult();
  const [g0 = 0, g1 = 0, g2 = 0, g3 = 0] = sizes;
  expect((g3 - g2) / (g1 - g0)).toBeLessThan(1.05);
});
