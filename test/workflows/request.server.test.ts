import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Holdfast, TurnRequest } from "../../src/client/index.ts";
import { buildAnthropicRequest } from "../../src/models/anthropic-messages/request.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { Gates } from "./support/gates.ts";
import { connectClient } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

// What the vendor has received is compared, byte for byte, with what the record gives as the request.

/** Its answer is always of the same length, so that compaction comes at the same turn on every machine. */
const listing = defineTool({
  name: "list_notes",
  description: "Lists the notes",
  inputSchema: z.object({}),
  replay: "pure",
  execute: async () => Array.from({ length: 24 }, (_, nth) => `note-${nth}.md`).join("\n"),
});
const gates = new Gates();
let stage: TestEnvironment;
let holdfast: Holdfast;
beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [gates.createTool(), listing] });
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

const LONG = "All work and no play makes a long day. ".repeat(60);
const usage = { input: 0, output: 0 };
const look = { text: LONG, toolCalls: [{ name: "list_notes", arguments: {} }], usage };
const done = { text: "Done.", usage };
const looks = (count: number) => Array.from({ length: count }, () => look);
const SMALL = {
  maxContextTokens: 6000,
  systemPromptTokens: 100,
  compaction: { keepFirstTurns: 1, keepRecentTurns: 2, maxSummaryTokens: 200, toolOutputMaxLines: 2 },
};
const SMALL_AGENT = { tools: ["list_notes"], context: SMALL, limits: { maxTurns: 16 } };
const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: args }], usage });
const hold = (gate: string) => ({ toolCalls: [{ name: "hold", arguments: { gate } }], usage });

/** The vendor's protocol, from the rebuilt request. This vendor gives structured output by a final tool. */
function wire({ systemPrompt, messages, tools = [], output: _, ...rest }: TurnRequest): string {
  return JSON.stringify(
    buildAnthropicRequest({
      ...rest,
      systemPrompt: systemPrompt.text,
      messages: messages.map(({ message }) => message),
      tools,
    }),
  );
}

/** Every answer in the record, loop by loop, turn by turn. */
async function remade(session: TestSession): Promise<TurnRequest[]> {
  const requests: TurnRequest[] = [];
  for (const { loopId, turns = 0 } of await stage.transcript.readLoops(session.id)) {
    for (let turn = 0; turn < turns; turn++) {
      requests.push(await holdfast.session(session.id).messages.request({ loop: loopId, turn }));
    }
  }
  return requests;
}

/** @returns What was compared. */
async function expectSame(session: TestSession): Promise<TurnRequest[]> {
  const sent = session.listRequests().filter(({ fault }) => fault === undefined);
  const made = await remade(session);
  expect(made.map(wire)).toEqual(sent.map(({ body }) => JSON.stringify(body)));
  return made;
}

const compactions = async (session: TestSession, loop = 0) =>
  (await session.readEventTypes(loop)).filter((type) => type === "CompactionEnded").length;

describe("the request to a model can be rebuilt exactly at any later time", () => {
  test("turn by turn, with the origin of every block [PHI-07.1-2]", async () => {
    const session = stage.session({
      replies: [hold("origins"), done, done],
      agent: { tools: ["hold"], systemPrompt: "Be brief.", thinking: "low", limits: { maxTurns: 9 } },
    });
    await session.start("Go");
    await gates.get("origins").arrived;
    await holdfast.session(session.id).steer("Faster", { acknowledge: true, messageId: "m-steer" });
    await holdfast.session(session.id).followUp("And then?", { acknowledge: true });
    gates.get("origins").open();
    await session.readResult();
    const made = await expectSame(session);
    expect(made).toHaveLength(3);
    const last = made[2];
    const [loop] = await stage.transcript.readLoops(session.id);
    expect(last?.messages.map(({ origin }) => origin)).toMatchObject([
      { type: "prompt", position: 0, loopId: loop?.loopId, turn: 0 },
      { type: "turn", role: "assistant", position: 1, turn: 0 },
      { type: "turn", role: "toolResult", position: 2, turn: 0 },
      { type: "steering", position: 3, messageId: "m-steer", turn: 1 },
      { type: "turn", role: "assistant", position: 4, turn: 1 },
      { type: "follow-up", position: 5, turn: 2 },
    ]);
    expect(last).toMatchObject({
      session: session.id,
      turn: 2,
      position: 6,
      thinking: "low",
      systemPrompt: { text: "Be brief.", origin: { type: "system-prompt" } },
      limits: { maxTurns: 9 },
    });
    expect(last?.tools?.map(({ name }) => name)).toEqual(["hold"]);
    expect(await holdfast.session(session.id).messages.request()).toEqual(last);
    expect(JSON.stringify(last)).not.toContain("KEYMARKER");
  });

  thoroughTest("of a compacted run, also after continue-as-new [PHI-07.1]", async () => {
    const session = stage.session({ replies: looks(16), agent: SMALL_AGENT });
    await session.run("Go", { settings: { rotateAfterEvents: 60 } });
    expect(await compactions(session)).toBeGreaterThan(1);
    const made = await expectSame(session);
    expect(made).toHaveLength(16);
    const origins = made.at(-1)?.messages.map(({ origin }) => origin) ?? [];
    expect(origins.some(({ type }) => type === "compaction")).toBe(true);
    const { runId } = await session.handle.describe();
    expect((await stage.transcript.readSteps(session.id)).some(({ run }) => run !== runId)).toBe(true);
  });

  thoroughTest(
    "of the next loop of the same run, which inherits the smaller view, and of the next run, which does too",
    async () => {
      const session = stage.session({
        replies: looks(36),
        agent: { ...SMALL_AGENT, limits: { maxTurns: 12 } },
      });
      await session.start("Go", { mode: "interactive" });
      const waiting = () => eventually(async () => (await session.readStatus()).status === "waiting");
      await waiting();
      await holdfast.session(session.id).prompt("Second");
      await session.waitForRequest(12);
      await waiting();
      await holdfast.session(session.id).stop();
      await session.readResult();
      await holdfast.session(session.id).prompt("Third");
      await session.readResult();
      await expectSame(session);
      const loops = await stage.transcript.readLoops(session.id);
      const stands = async (nth: number) => {
        const { messages } = await holdfast
          .session(session.id)
          .messages.request({ loop: loops[nth]?.loopId ?? "", turn: 0 });
        const found = messages.flatMap(({ origin }) =>
          origin.type === "compaction" ? [origin.position] : [],
        );
        expect(found).not.toEqual([]);
        return (found[0] ?? 0) - (loops[nth]?.from ?? 0);
      };
      expect(await stands(1)).toBeLessThan(0);
      expect(await stands(2)).toBeLessThan(0);
    },
  );

  thoroughTest(
    "of a fork, of the branch that it left, and of a loop after a failed answer [PHI-07.1]",
    async () => {
      const session = stage.session({
        replies: [look, done, done, done],
        faults: [{ fault: "server-error", onTurn: 2, status: 500 }],
        agent: { tools: ["list_notes"] },
      });
      await session.run("Go");
      await holdfast.session(session.id).prompt("Fails");
      await session.readFailure();
      await holdfast.session(session.id).prompt("Again");
      await session.readResult();
      const [first] = await stage.transcript.readLoops(session.id);
      await holdfast.session(session.id).branches.rerun({ loop: first?.loopId ?? "" });
      await session.readResult();
      const loops = await stage.transcript.readLoops(session.id);
      expect(new Set(loops.map(({ branch }) => branch)).size).toBe(2);
      const sent = session.listRequests();
      const made = await remade(session);
      // The rejected request is rebuilt too: the failed turn is in the record.
      expect(made.map(wire)).toEqual(sent.map(({ body }) => JSON.stringify(body)));
      expect(made).toHaveLength(6);
    },
  );

  thoroughTest(
    "of a model that has pruned and reverted, and of the branch that it left [PHI-07.1]",
    async () => {
      const replies = [
        look,
        look,
        call("prun_with_memo", { tokens: 1, memo: "it is a long day" }),
        look,
        call("revert_to_state", { category: "failure", step: "n6", summary: "that was no way" }),
        done,
      ];
      const session = stage.session({
        agent: {
          tools: ["list_notes", "prun", "revert_to_state"],
          revert: { shownForTurns: 1, newestOfKind: 0 },
        },
      });
      // Chosen by the number of requests: after a prune, a request holds fewer answers.
      stage.model.script({
        conversations: replies.map((reply, nth) => ({
          match: ({ conversation }: { conversation: string }) =>
            conversation === session.id && session.listRequests().length - 1 === nth,
          replies: Array.from({ length: 9 }, () => reply),
        })),
      });
      await session.run("Go");
      const [loop] = await stage.transcript.readLoops(session.id);
      expect(loop).toMatchObject({ turns: 6 });
      const made = await expectSame(session);
      expect(made).toHaveLength(6);
      expect(made.at(-1)?.messages.map(({ origin }) => origin.type)).toContain("memo");
      expect(new Set(made.map(({ branch }) => branch)).size).toBe(2);
    },
  );

  test("of an answer that was requested once more because it was not valid output", async () => {
    const answer = (value: object) => ({ toolCalls: [{ name: "final_answer", arguments: value }], usage });
    const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
    const session = stage.session({
      replies: [answer({}), answer({ a: 1 })],
      agent: { output: { type: "json-schema", schema }, systemPrompt: "Be brief." },
    });
    await session.run("Go");
    const made = await expectSame(session);
    expect(made.map(({ forcedTool }) => forcedTool)).toEqual([undefined, "final_answer"]);
  });

  test("of a turn whose context the vendor had rejected: the request that was answered, and of the next run", async () => {
    const session = stage.session({
      replies: [...looks(5), done, done],
      faults: [{ fault: "overflow", onTurn: 4 }],
      agent: { ...SMALL_AGENT, context: { ...SMALL, maxContextTokens: 100_000 } },
    });
    await session.run("Go");
    expect(await compactions(session)).toBe(1);
    await holdfast.session(session.id).prompt("Next");
    await session.readResult();
    const made = await expectSame(session);
    const origins = made.at(-1)?.messages.map(({ origin }) => origin.type) ?? [];
    expect(origins).toContain("compaction");
  });
});

describe("a request that cannot be rebuilt is reported", () => {
  test("a turn without an answer, a missing loop and a missing session [PHI-07.3]", async () => {
    const session = stage.session({ replies: [done] });
    await session.run("Go");
    await expect(holdfast.session(session.id).messages.request({ turn: 7 })).rejects.toThrow("no answer 7");
    await expect(holdfast.session(session.id).messages.request({ loop: "nine" })).rejects.toThrow(
      "no loop nine; it has",
    );
    await expect(holdfast.session("nobody").messages.request()).rejects.toMatchObject({
      code: "session-unknown",
    });
  });
});
