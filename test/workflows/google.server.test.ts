import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { thorough } from "../support/depth.ts";
import type { Session } from "./support/session.ts";
import { openStage, type Stage } from "./support/temporal.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

const WAYS = [
  ["google_generative_ai", "google", "google-fc"],
  ["google_vertex", "google_vertex", "vertex-fc"],
] as const;

type Body = { contents: { role: string; parts: Record<string, unknown>[] }[] };
const contentsOf = (session: Session, nth: number) =>
  (session.requests()[nth]?.body as Body | undefined)?.contents;

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

  test("calls tools in two turns, and every signature goes back as it came [PROV-20] [PROV-21] [PROV-22] [GAP-08]", async () => {
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
    expect(session.requests().map(({ protocol, outcome }) => [protocol, outcome])).toEqual(
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
    const calls = (await session.entries()).flatMap(({ message }) =>
      message?.role === "assistant" ? message.content.filter((part) => part.type === "toolCall") : [],
    );
    expect(calls.map(({ id }) => id)).toEqual([`${ids}-0`, `${ids}-1`, `${ids}-2`]);
  });

  thorough("an overloaded model is asked again [RTY-03]", async () => {
    const session = stage.session({
      faults: [{ fault: "overloaded" }],
      replies: [{ text: "Now." }],
      agent: { ...agentAt("gemini-3-test"), retry: { initialDelayMs: 10 } },
    });
    expect(await session.run("Go")).toMatchObject({ text: "Now." });
    expect(session.requests()).toHaveLength(2);
  });
});

const list0 = { name: "list_files", args: { path: "." } };
