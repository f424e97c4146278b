import { afterAll, beforeAll, expect } from "vitest";
import { approveUpdate, statusQuery } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { type CrashEnvironment, expectComplete, openCrashEnvironment } from "./support/crash-environment.ts";
import { lockTranscript } from "./support/transcript-lock.ts";

let stage: CrashEnvironment;

beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

thoroughTest(
  "killed while a call awaits approval: the request survives, and the next worker runs the approved call [TMP-11.4]",
  async () => {
    const session = stage.session({
      replies: [
        { toolCalls: [{ name: "bash", arguments: { command: "echo approved > note" } }] },
        { text: "Done." },
      ],
      agent: { tools: ["bash"], permissions: { otherwise: "ask" } },
    });
    const first = await stage.startWorker();
    await session.start("Go");
    await eventually(async () => (await session.handle.query(statusQuery)).approvals.length === 1);
    await first.kill("SIGKILL");
    await stage.startWorker();
    await session.handle.executeUpdate(approveUpdate, { args: [{ answer: "approve" }] });
    expect(await session.readResult()).toMatchObject({ text: "Done." });
    expect(session.listRequests()).toHaveLength(2);
    await expectComplete(stage, session);
  },
);

thoroughTest(
  "killed in the middle of a compaction: it is done once, and the run continues [CMP-13.4]",
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
    const first = await stage.startWorker();
    await session.start("Go");
    await stage.model.waitForHold("compact");
    await session.handle.signal("compact", {});
    await eventually(async () => {
      const { events = [] } = await session.handle.fetchHistory();
      return (events ?? []).some((event) => event.workflowExecutionSignaledEventAttributes != null);
    });
    stage.model.release("compact");
    await eventually(async () =>
      (await stage.transcript.readSteps(session.id)).some(({ kind }) => kind === "compact"),
    );
    const unlock = lockTranscript(stage.home);
    await first.kill("SIGKILL");
    unlock();
    await stage.startWorker();
    await session.readResult();
    const compactions = (await session.readEntries()).filter(({ message }) => message.role === "extension");
    expect(compactions).toHaveLength(1);
    expect((await session.readEventTypes()).filter((type) => type === "CompactionEnded")).toHaveLength(1);
  },
);
