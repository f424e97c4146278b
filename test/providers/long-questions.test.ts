import { expect, test } from "vitest";
import { Conversations } from "../../src/activities/conversations.ts";
import { toWireJson } from "../../src/providers/json.ts";
import { charactersIn, mustBeSendable } from "../../src/providers/room.ts";
import type { Entry } from "../../src/schema/record.ts";
import type { Transcript } from "../../src/transcript/transcript.ts";

const said = (text: string) => ({
  role: "user" as const,
  content: [{ type: "text" as const, text }],
  timestamp: 1,
});

test("a question is written as JSON.stringify writes it, with lone halves of characters replaced", async () => {
  const body = {
    model: "m",
    none: undefined,
    messages: [said("Grüße 🌍 \\ud800 \u2028"), undefined, { nested: { list: [1, null, "x"] } }],
    stream: true,
    limit: Number.NaN,
  };
  expect(await toWireJson(body)).toBe(JSON.stringify(body));
  expect(JSON.parse(await toWireJson({ text: ["cut \ud83c"] }))).toEqual({ text: ["cut \ufffd"] });
  expect(await toWireJson({})).toBe("{}");
});

test("a question that no vendor takes is refused before it is written down", () => {
  const long = "x".repeat(1000);
  expect(charactersIn([said(long)])).toBeGreaterThan(1000);
  expect(() => mustBeSendable([said(long)], 2000)).not.toThrow();
  expect(() => mustBeSendable([said(long), said(long)], 2000)).toThrow(
    expect.objectContaining({
      fault: "overflow",
      message: expect.stringContaining("not asked: the question has"),
    }),
  );
});

test("sixty million characters are written without holding up the heartbeat", async () => {
  const messages = Array.from({ length: 60 }, (_, at) => said(`${at} ${"words and ".repeat(100_000)}`));
  const entries: Entry[] = messages.map((message, position) => ({
    position,
    origin: "steering",
    tokens: 1,
    message,
  }));
  const transcript = {
    entries: async () => entries,
    writers: async () => ["run", undefined],
  } as unknown as Transcript;
  const view = { branch: "main", ranges: [{ from: 0, to: entries.length }] } as never;
  const read = await new Conversations(transcript).messages("s", view);
  mustBeSendable(read);
  const turns = await turnsDuring(async () => void (await toWireJson({ messages: read })));
  // Others have their turn after every few messages, however many there are.
  expect(turns).toBeGreaterThanOrEqual(messages.length / 5);
});

/** How often the event loop came round, and others had their turn. */
async function turnsDuring(work: () => Promise<void>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
}
