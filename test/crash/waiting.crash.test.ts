import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../../src/testing/eventually.ts";
import { approveUpdate, statusQuery } from "../../src/workflows/messages.ts";
import { thorough } from "../support/depth.ts";
import { lockTranscript } from "./support/lock.ts";
import { type CrashStage, expectWhole, openCrashStage } from "./support/temporal.ts";

let stage: CrashStage;

beforeAll(async () => {
  stage = await openCrashStage();
});
afterAll(() => stage.close());

thorough(
  "killed while a call waits for a person: the question survives, and the next worker runs what is approved [TMP-11]",
  async () => {
    const session = stage.session({
      replies: [
        { toolCalls: [{ name: "bash", arguments: { command: "echo approved > note" } }] },
        { text: "Done." },
      ],
      agent: { tools: ["bash"], permissions: { otherwise: "ask" } },
    });
    const first = await stage.worker();
    await session.start("Go");
    await eventually(async () => (await session.handle.query(statusQuery)).approvals.length === 1);
    await first.kill("SIGKILL");
    await stage.worker();
    await session.handle.executeUpdate(approveUpdate, { args: [{ answer: "approve" }] });
    expect(await session.result()).toMatchObject({ text: "Done." });
    expect(session.requests()).toHaveLength(2);
    await expectWhole(stage, session);
  },
  40_000,
);

thorough(
  "killed in the middle of a compaction: it is done once, and the run goes on [CMP-13]",
  async () => {
    const look = { toolCalls: [{ name: "list_files", arguments: { path: "." } }] };
    const session = stage.session({
      replies: [look, look, { ...look, holdUntil: "compact" }, { text: "Done." }],
      agent: {
        tools: ["list_files"],
        context: { compaction: { keepFirstTurns: 1, keepRecentTurns: 1, maxSummaryTokens: 200 } },
        limits: { maxTurns: 4 },
      },
    });
    const first = await stage.worker();
    await session.start("Go");
    await stage.model.waitForHold("compact");
    await session.handle.signal("compact", {});
    await eventually(async () => {
      const { events = [] } = await session.handle.fetchHistory();
      return (events ?? []).some((event) => event.workflowExecutionSignaledEventAttributes != null);
    });
    stage.model.release("compact");
    await eventually(async () =>
      (await stage.transcript.steps(session.id)).some(({ kind }) => kind === "compact"),
    );
    const unlock = lockTranscript(stage.home);
    await first.kill("SIGKILL");
    unlock();
    await stage.worker();
    await session.result();
    const compactions = (await session.entries()).filter(({ message }) => message.role === "extension");
    expect(compactions).toHaveLength(1);
    expect((await session.eventTypes()).filter((type) => type === "CompactionEnded")).toHaveLength(1);
  },
  40_000,
);
