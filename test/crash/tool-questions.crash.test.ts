import { afterAll, beforeAll, expect } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { createStdioServer, MISBEHAVING_SERVER } from "../mcp/support/mcp-servers.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { listTexts } from "../workflows/support/list-texts.ts";
import { connectClient, runCommandLine } from "../workflows/support/test-client.ts";
import { type CrashEnvironment, openCrashEnvironment } from "./support/crash-environment.ts";

let stage: CrashEnvironment;
let holdfast: Holdfast;
beforeAll(async () => {
  stage = await openCrashEnvironment();
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

const POLL = { timeout: 20_000, interval: 50 };

thoroughTest(
  "killed while a server's question waits: the next worker gives the server the answer; one question is declined, one stopped [TMP-11.4]",
  async () => {
    const elicit = (id: string) => ({ toolCalls: [{ id, name: "ask__elicit", arguments: {} }] });
    const server = createStdioServer(MISBEHAVING_SERVER, {}, { name: "ask", include: ["elicit"] });
    const session = stage.session({
      replies: [elicit("one"), elicit("two"), elicit("three"), { text: "Never." }],
      agent: { mcp: [server] },
    });
    const waiting = async (id: string) => {
      const ids = async () =>
        (
          await holdfast
            .session(session.id)
            .approvals.list()
            .catch(() => [])
        ).map(({ toolCallId }) => toolCallId);
      await expect.poll(ids, POLL).toEqual([id]);
      const [call] = await holdfast.session(session.id).approvals.list();
      return call;
    };
    const first = await stage.startWorker();
    await session.start("Go");
    expect(await waiting("one")).toMatchObject({
      tool: "ask__elicit",
      reason: "its tool asks the user",
      questionRef: expect.stringMatching(/^[0-9a-f]{64}$/),
      question: { type: "form", message: "Your name?", schema: { properties: { name: { default: "Ada" } } } },
    });
    const { raw } = await session.handle.describe();
    expect(raw.pendingActivities ?? []).toEqual([]);
    await first.kill("SIGKILL");

    await stage.startWorker();
    const shown = await runCommandLine(stage, "answer", session.id);
    expect(shown.out).toMatch(
      /Waits for an answer: ask__elicit[\s\S]*Your name\?[\s\S]*- name: a text; default "Ada"/,
    );
    await expect(
      holdfast.session(session.id).approvals.answer("one", { values: { name: 7, copies: 2 } }),
    ).rejects.toMatchObject({
      code: "input-invalid",
      message: expect.stringMatching(
        /copies: unknown field.*name: found 7, expected a text\. Nothing was sent/,
      ),
    });
    await expect(holdfast.session(session.id).approvals.approve("one")).rejects.toMatchObject({
      code: "input-invalid",
    });
    expect(await runCommandLine(stage, "answer", session.id, "--value", "name=Grace Hopper")).toMatchObject({
      code: 0,
      out: "answered: ask__elicit\n",
    });

    await waiting("two");
    await holdfast.session(session.id).approvals.answer("two", { answer: "decline", by: "ada" });
    await waiting("three");
    await holdfast.session(session.id).stop("enough");
    expect(await session.readResult()).toMatchObject({ outcome: { type: "stopped" } });
    expect((await session.readConversation()).filter((line) => line.startsWith("toolResult"))).toEqual([
      expect.stringContaining('{"action":"accept","content":{"name":"Grace Hopper"}}'),
      expect.stringContaining('{"action":"decline"}'),
      expect.stringContaining("Cancelled"),
    ]);

    const ends = (await session.readEvents()).flatMap(({ body }) =>
      body.type === "ToolExecutionEnd" ? (body.questions ?? []) : [],
    );
    expect(ends).toMatchObject([{ answer: "accept" }, { answer: "decline", by: "ada" }, {}]);
    expect(ends[2]).not.toHaveProperty("answer");
    const { question = "", values = "" } = ends[0] ?? {};
    expect(await stage.transcript.readText(question)).toContain("Your name?");
    expect(await stage.transcript.readText(values)).toBe('{"name":"Grace Hopper"}');
    const { events } = await session.handle.fetchHistory();
    expect(listTexts(events).filter((text) => text.includes("Your name?"))).toEqual([]);
    // The server repeats the answer in its result, and a digest holds the beginning of that.
    const told = (events ?? []).filter(({ activityTaskCompletedEventAttributes: done }) => done == null);
    expect(listTexts(told).filter((text) => text.includes("Grace"))).toEqual([]);
    const exported = await runCommandLine(stage, "export", session.id);
    expect(exported.out).toContain("Your name?");
  },
);
