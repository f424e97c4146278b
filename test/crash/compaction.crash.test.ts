import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import type { TestSession } from "../workflows/support/test-session.ts";
import {
  type CrashEnvironment,
  expectComplete,
  openCrashEnvironment,
  waitForExecution,
} from "./support/crash-environment.ts";
import { startProxy } from "./support/stalling-proxy.ts";

let stage: CrashEnvironment;

beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

const LONG = "All work and no play makes a long day. ".repeat(60);
const look = { text: LONG, toolCalls: [{ name: "list_files", arguments: { path: "." } }] };
const asksForNotes = ({ body }: { readonly body?: unknown }) => JSON.stringify(body).includes("The record:");
const COMPACTION = { continuation: { kind: { type: "compaction" as const } } };

/** An idle session with a long context, and a model whose notes on it wait for a gate of this name. */
function atRest(gate: string): TestSession {
  const compaction = { strategy: "summary", keepFirstTurns: 1, keepRecentTurns: 2, maxSummaryTokens: 200 };
  const context = { maxContextTokens: 100_000, systemPromptTokens: 100, compaction };
  const session = stage.session({ agent: { tools: ["list_files"], context } });
  const own = ({ conversation }: { conversation: string }) => conversation === session.id;
  const replies = [look, look, look, look, { text: "Done." }];
  stage.model.script({
    conversations: [
      {
        match: (question) => own(question) && asksForNotes(question),
        replies: [{ text: "Notes.", holdUntil: gate }],
      },
      {
        match: (question) => own(question) && question.lastText.includes("And now?"),
        replies: Array(6).fill({ text: "Again." }),
      },
      { match: own, replies },
    ],
  });
  return session;
}

async function expectSmaller(session: TestSession): Promise<void> {
  expect(await session.readResult()).toMatchObject({
    outcome: { type: "answered", stopReason: "contextCompacted" },
  });
  expect(await session.readEventTypes(1)).toEqual([
    "AgentStart",
    "CompactionStarted",
    "CompactionEnded",
    "AgentEnd",
  ]);
  const kept = (await session.readEntries()).filter(({ message }) => message.role === "extension");
  expect(kept).toHaveLength(1);
  expect(await session.run("And now?")).toMatchObject({ text: "Again." });
  const after = session.listSeenMessages(session.listRequests().length - 1);
  expect(after.filter((line) => line.includes("Notes."))).toHaveLength(1);
  expect(after.filter((line) => line.includes("All work")).length).toBeLessThan(4);
  await expectComplete(stage, session);
}

thoroughTest(
  "killed while an idle session is compacted: the model is asked for its notes again, and they are stored once [CMP-13.4]",
  async () => {
    const session = atRest("killed");
    const first = await stage.startWorker();
    await session.run("Go");
    await session.start(undefined, COMPACTION);
    await stage.model.waitForHold("killed");
    await first.kill("SIGKILL");
    await stage.startWorker();
    await waitForExecution(stage, session, "compact", 2);
    stage.model.release("killed");
    await expectSmaller(session);
    expect(session.listRequests().filter(asksForNotes)).toHaveLength(2);
  },
);

thoroughTest(
  "killed after the smaller context was stored and before Temporal knows: the model is not asked again [CMP-13.4]",
  async () => {
    const proxy = await startProxy(stage.address);
    const session = atRest("stored");
    const first = await stage.startWorker({ address: proxy.address });
    await session.run("Go");
    await session.start(undefined, COMPACTION);
    await stage.model.waitForHold("stored");
    proxy.stall();
    stage.model.release("stored");
    await eventually(async () =>
      (await stage.transcript.readSteps(session.id)).some(
        ({ kind, storedAtMs }) => kind === "compact" && storedAtMs,
      ),
    );
    await first.kill("SIGKILL");
    await proxy.close();
    await stage.startWorker();
    await expectSmaller(session);
    expect(session.listRequests().filter(asksForNotes)).toHaveLength(1);
  },
);
