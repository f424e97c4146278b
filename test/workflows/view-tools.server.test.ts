import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Entry } from "../../src/schema/record.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

const look = { toolCalls: [{ name: "list_files", arguments: { path: "." } }] };
const call = (name: string, args: object) => ({ name, arguments: args });
/** The script selects a reply by the answers in a request; these replies are given once it contains this text. */
function then(
  session: ReturnType<TestEnvironment["session"]>,
  words: string,
  before: Reply[],
  replies: Reply[],
): void {
  const own = ({ conversation }: { conversation: string }) => conversation === session.id;
  stage.model.script({
    conversations: [
      { match: (question) => own(question) && JSON.stringify(question.body).includes(words), replies },
      { match: own, replies: before },
    ],
  });
}
type Reply = { text?: string; toolCalls?: { name: string; arguments: object }[] };
const textOf = ({ message }: Entry) =>
  message.role === "extension"
    ? ""
    : message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
const eventsOf = async (session: ReturnType<TestEnvironment["session"]>, type: string) =>
  (await session.readEvents()).map(({ body }) => body).filter((body) => body.type === type);

describe("a model that prunes", () => {
  test("receives no pruned entries from the next answer on; the record keeps them [EVT-10.2, PRUN-02.2, PRUN-06.1-2, PRUN-07.1, PRUN-08, LOOP-18, PHI-13g.2, PHI-13i.1, PHI-13i.3]", async () => {
    const session = stage.session({ agent: { tools: ["list_files", "prun"] } });
    const replies = [
      { text: "First look", ...look },
      { text: "Second look", ...look },
      { text: "Too much", toolCalls: [call("prun", { tokens: 1 })] },
    ];
    then(session, "Reclaimed", replies, [{}, {}, { text: "Done." }]);
    await session.run("Go");
    const before = session.listSeenMessages(2).join("\n");
    expect(before).toContain("First look");
    const after = session.listSeenMessages(3);
    expect(after[0]).toBe("user: Go");
    expect(after.join("\n")).not.toContain("First look");
    expect(after.join("\n")).toContain("Second look");
    expect(after.at(-1)).toMatch(/Reclaimed \d+ tokens: 2 messages/);
    expect((await session.readEntries()).map(textOf)).toContain("First look");
    const [applied] = await eventsOf(session, "PrunApplied");
    const tokens = Number(/Reclaimed (\d+)/.exec(after.at(-1) ?? "")?.[1]);
    expect(applied).toEqual({
      type: "PrunApplied",
      pruned: [{ from: 1, to: 3 }],
      tokensRemoved: tokens,
      messagesRemoved: 2,
    });
    const types = await session.readEventTypes();
    expect(types.indexOf("PrunApplied")).toBeGreaterThan(types.lastIndexOf("ToolExecutionEnd"));
  });

  test("may prune twice in one answer: in call order, the second from the remainder of the first; a memo keeps its position [PRUN-03.1-2, PRUN-10.1, X-18.1]", async () => {
    const session = stage.session({ agent: { tools: ["list_files", "prun"] } });
    const replies = [
      { text: "First look", ...look },
      { text: "Second look", ...look },
      {
        text: "Too much",
        toolCalls: [
          call("prun_with_memo", { tokens: 1, memo: "the folder is small" }),
          call("prun", { tokens: 1 }),
          call("prun", { tokens: 1 }),
        ],
      },
    ];
    then(session, "Reclaimed", replies, [{}, { text: "Done." }]);
    await session.run("Go");
    expect(session.listSeenMessages(3)).toEqual([
      "user: Go",
      "user: [Memo on what was pruned here] the folder is small",
      "assistant: Too much",
      "assistant: calls prun_with_memo",
      "assistant: calls prun",
      "assistant: calls prun",
      expect.stringMatching(/Reclaimed \d+ tokens: 2 messages .* Your memo replaces/),
      expect.stringMatching(/Reclaimed \d+ tokens: 2 messages/),
      expect.stringMatching(/Reclaimed 0 tokens/),
    ]);
    expect(await eventsOf(session, "PrunApplied")).toMatchObject([
      { pruned: [{ from: 1, to: 3 }], memo: { position: 5, call: 0 } },
      { pruned: [{ from: 3, to: 5 }] },
    ]);
    const { events: history = [] } = await session.handle.fetchHistory();
    expect(JSON.stringify(history)).not.toContain("the folder is small");
  });

  thoroughTest(
    "receives none of them in a later run of the session either [PRUN-07.2, PHI-13g.2]",
    async () => {
      const session = stage.session({ agent: { tools: ["list_files", "prun"] } });
      const pruning = { toolCalls: [call("prun_with_memo", { tokens: 1, memo: "seen it" })] };
      then(
        session,
        "Reclaimed",
        [{ text: "First look", ...look }, pruning],
        [{}, { text: "Done." }, { text: "Still." }],
      );
      await session.run("Go");
      await session.run("More");
      expect(session.listSeenMessages(3)).toEqual([
        "user: Go",
        "user: [Memo on what was pruned here] seen it",
        "assistant: calls prun_with_memo",
        expect.stringContaining("Reclaimed"),
        "assistant: Done.",
        "user: More",
      ]);
    },
  );

  thoroughTest("is not offered the tools without opting in [PRUN-10.2, PHI-04.2, PHI-01.1]", async () => {
    const session = stage.session({ replies: [{ text: "Hi." }], agent: { tools: ["list_files"] } });
    await session.run("Go");
    const [request] = session.listRequests();
    const body = JSON.stringify(request?.body);
    for (const name of ["prun", "revert_to_state", "n0"]) expect(body).not.toContain(name);
  });
});

describe("a model that reverts", () => {
  thoroughTest(
    "receives the conversation up to there with its lesson; the old branch keeps what was left [PHI-01.2-3, PHI-02.1, PHI-04.1, PHI-05.1, PHI-13j.1-2]",
    async () => {
      const session = stage.session({ agent: { tools: ["list_files", "revert_to_state"] } });
      const replies = [
        { text: "First look", ...look },
        { text: "Wrong way", ...look },
        {
          text: "Back",
          toolCalls: [
            call("revert_to_state", { category: "failure", step: "n1", summary: "that way is closed" }),
            call("nothing", {}),
          ],
        },
      ];
      then(session, "Back at n2", replies, [{}, { text: "Another way", ...look }, { text: "Done." }]);
      expect(await session.run("Go")).toMatchObject({ text: "Done." });
      expect(session.listSeenMessages(1)).toEqual([
        "user: Go",
        "user: [n0 is this message]",
        "assistant: First look",
        "assistant: calls list_files",
        expect.stringMatching(/\[n1 is your previous answer, n2 is this message\]$/),
      ]);
      expect(session.listSeenMessages(2).slice(0, 5)).toEqual(session.listSeenMessages(1));
      expect(session.listSeenMessages(3)).toEqual([
        ...session.listSeenMessages(1),
        "user: [Back at n2 · lesson] that way is closed",
      ]);
      const main = (await session.readEntries("main")).map(textOf);
      expect(main.slice(3)).toEqual([
        "Wrong way",
        expect.any(String),
        "Back",
        "You continue from n2 with your next answer.",
        "Tool nothing not found",
      ]);
      const branches = await stage.transcript.readBranches(session.id);
      expect(branches).toMatchObject([{ id: "main" }, { parent: { branch: "main", position: 3 } }]);
      const [applied] = await eventsOf(session, "RevertApplied");
      expect(applied).toEqual({
        type: "RevertApplied",
        category: "failure",
        target: 2,
        abandoned: { from: 3, to: 8 },
        summary: "that way is closed",
        applied: true,
      });
      const record = await stage.transcript.readSession(session.id);
      expect(record?.headBranch).toBe(branches[1]?.id);
      const head = (await session.readEntries(record?.headBranch)).map(textOf);
      expect(head.slice(3)).toEqual([
        "[Back at n2 · lesson] that way is closed",
        "Another way",
        expect.any(String),
        "Done.",
      ]);
    },
  );

  thoroughTest("cannot revert to an unknown position or across a user message [PHI-03.1-2]", async () => {
    const session = stage.session({
      replies: [
        { text: "Hello." },
        { text: "Hm", toolCalls: [call("revert_to_state", { category: "tangent", step: "n77" })] },
        { text: "Hm", toolCalls: [call("revert_to_state", { category: "tangent", step: "1" })] },
        { text: "Done." },
      ],
      agent: { tools: ["revert_to_state"] },
    });
    await session.run("Go");
    await session.run("More");
    expect(session.listSeenMessages(2).at(-1)).toMatch(/Not reverted: there is no entry n77/);
    expect(session.listSeenMessages(3).at(-1)).toMatch(
      /Not reverted: the user has sent a message since \(n2\)/,
    );
    const events = (await session.readEvents(1)).map(({ body }) => body);
    expect(events.filter(({ type }) => type === "RevertApplied")).toEqual([
      { type: "RevertApplied", category: "tangent", applied: false, reason: expect.any(String) },
      { type: "RevertApplied", category: "tangent", target: 1, applied: false, reason: expect.any(String) },
    ]);
    expect(await stage.transcript.readBranches(session.id)).toHaveLength(1);
  });
});
