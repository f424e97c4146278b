import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

const WAYS = [
  ["google_generative_ai", "google", "google-fc"],
  ["google_vertex", "google_vertex", "vertex-fc"],
] as const;

type Body = { contents: { role: string; parts: Record<string, unknown>[] }[] };
const contentsOf = (session: TestSession, nth: number) =>
  (session.listRequests()[nth]?.body as Body | undefined)?.contents;

describe.each(WAYS)("a loop over %s", (api, provider, ids) => {
  const agentAt = (id: string) => ({
    tools: ["list_files"],
    thinking: "low" as const,
    model: {
      id,
      api,
      provider,
      baseUrl: provider === "google" ? stage.model.googleBaseUrl : stage.model.vertexBaseUrl,
    },
  });
  const list = { name: "list_files", arguments: { path: "." } };

  test("calls tools in two turns, and every signature is sent back unchanged [PROV-20.4] [PROV-21.2] [PROV-22.4] [GAP-08.2]", async () => {
    const session = stage.session({
      replies: [
        { thinking: "Let me look.", text: "I look.", toolCalls: [list, list] },
        { toolCalls: [list] },
        { text: "Two files." },
      ],
      agent: agentAt("gemini-3-test"),
    });
    expect(await session.run("What is there?")).toMatchObject({
      text: "Two files.",
      outcome: { type: "answered" },
    });
    expect(session.listRequests().map(({ protocol, outcome }) => [protocol, outcome])).toEqual(
      Array(3).fill([api, "answered"]),
    );
    const signed = { functionCall: list0, thoughtSignature: expect.stringMatching(/^Cg/) };
    expect(contentsOf(session, 2)).toMatchObject([
      { role: "user", parts: [{ text: "What is there?" }] },
      {
        role: "model",
        parts: [
          { text: "Let me look.", thought: true },
          { text: "I look." },
          signed,
          { functionCall: list0 },
        ],
      },
      {
        role: "user",
        parts: [{ functionResponse: { name: "list_files" } }, { functionResponse: { name: "list_files" } }],
      },
      { role: "model", parts: [signed] },
      { role: "user", parts: [{ functionResponse: { name: "list_files" } }] },
    ]);
    const calls = (await session.readEntries()).flatMap(({ message }) =>
      message?.role === "assistant" ? message.content.filter((part) => part.type === "toolCall") : [],
    );
    expect(calls.map(({ id }) => id)).toEqual([`${ids}-0`, `${ids}-1`, `${ids}-2`]);
  });

  thoroughTest("an overloaded model is called again [RTY-03.1]", async () => {
    const session = stage.session({
      faults: [{ fault: "overloaded" }],
      replies: [{ text: "Now." }],
      agent: { ...agentAt("gemini-3-test"), retry: { initialDelayMs: 10 } },
    });
    expect(await session.run("Go")).toMatchObject({ text: "Now." });
    expect(session.listRequests()).toHaveLength(2);
  });
});

const list0 = { name: "list_files", args: { path: "." } };
