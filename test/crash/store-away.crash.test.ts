import { renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { describePending } from "../../src/apps/cli/pending-view.ts";
import { SqliteTranscript } from "../../src/store/transcript/sqlite/sqlite-transcript.ts";
import { approveUpdate, statusQuery } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { connectClient, runCommandLine } from "../workflows/support/test-client.ts";
import { type CrashEnvironment, openCrashEnvironment } from "./support/crash-environment.ts";
import { lockTranscript } from "./support/transcript-lock.ts";

// The transcript is unavailable while runs are active: a worker reports it, and continues by itself when it returns.

let stage: CrashEnvironment;
beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

function said(worker: { stderr(): string }): string[] {
  return worker
    .stderr()
    .split("\n")
    .flatMap((line) => (line.startsWith("{") ? [(JSON.parse(line) as { msg: string }).msg] : []));
}

/** A run whose answer arrives when the gate is opened, and what the doctor reports in the meantime. */
async function away(gate: string, takeAway: () => () => void, words: RegExp) {
  const session = stage.session({ replies: [{ text: "Here it is.", holdUntil: gate }] });
  const worker = await stage.startWorker();
  await session.start("Go");
  await stage.model.waitForHold(gate);
  const giveBack = takeAway();
  stage.model.release(gate);
  await eventually(() => said(worker).some((line) => words.test(line)), {
    what: `the worker's word of it, beside ${said(worker).join("; ")}`,
    timeoutMs: 25_000,
  });
  const doctor = await runCommandLine(stage, "doctor");
  giveBack();
  expect(await session.readResult()).toMatchObject({ text: "Here it is." });
  await eventually(() =>
    said(worker).some((line) => line.startsWith("No step waits for the transcript any more")),
  );
  expect(session.listRequests()).toHaveLength(1);
  // As seen by a process that opens it at this time.
  const transcript = await SqliteTranscript.open({ path: join(stage.home, "transcript.db") });
  onTestFinished(() => transcript.close());
  expect((await transcript.readLoops(session.id)).map(({ status }) => status)).toEqual(["completed"]);
  expect(await transcript.readEntries(session.id, "main", 0, 100)).toHaveLength(2);
  expect(said(worker).filter((line) => words.test(line)).length).toBeLessThanOrEqual(3);
  await worker.kill("SIGTERM");
  return doctor;
}

thoroughTest("a locked transcript is reported, waited for, and seen by the doctor", async () => {
  const doctor = await away(
    "locked",
    () => lockTranscript(stage.home),
    /stayed locked for \d+ ms.*Steps that wait for it: 1; they continue by themselves/,
  );
  expect(doctor.code).toBe(1);
  expect(doctor.out).toMatch(/fail +transcript +.*locked/);
});

thoroughTest(
  "a call that is about to begin while the transcript is unavailable waits for it, is displayed as waiting in status, and runs once; the model is not informed",
  async () => {
    const session = stage.session({
      replies: [{ toolCalls: [{ name: "quick_unsafe", arguments: { label: "away" } }] }, { text: "Done." }],
      agent: { tools: ["quick_unsafe"], permissions: { otherwise: "ask" } },
    });
    const worker = await stage.startWorker();
    await session.start("Go");
    await eventually(async () => (await session.handle.query(statusQuery)).approvals.length === 1);
    await eventually(async () => (await stage.transcript.readSteps(session.id)).at(-1)?.kind === "record");
    const files = ["", "-wal", "-shm"].map((end) => join(stage.home, `transcript.db${end}`));
    for (const file of files) renameSync(file, `${file}.away`);
    try {
      await session.handle.executeUpdate(approveUpdate, { args: [{ answer: "approve" }] });
      const holdfast = await connectClient(stage);
      onTestFinished(() => holdfast.close());
      const { pending } = await eventually(
        async () => {
          const status = await holdfast.session(session.id).status();
          return status.pending[0]?.wait === undefined ? undefined : status;
        },
        { timeoutMs: 20_000, what: "a step that says that it waits" },
      );
      expect(pending).toMatchObject([
        { type: "quick_unsafe", state: "started", attempt: 1, wait: { type: "store" } },
      ]);
      expect(describePending(pending[0]!, Date.now())).toMatch(/waits for the transcript, .*for \d+ s/);
      expect(stage.countRuns("away")).toBe(0);
    } finally {
      for (const file of files) renameSync(`${file}.away`, file);
    }
    expect(await session.readResult()).toMatchObject({ text: "Done." });
    expect(stage.countRuns("away")).toBe(1);
    const told = (await session.readConversation()).join("\n");
    expect(told).toContain("finished away");
    expect(told).not.toMatch(/unknown|worker|transcript/i);
    await worker.kill("SIGTERM");
  },
);

thoroughTest(
  "a transcript whose file is missing: nothing is written elsewhere, no empty one is created, and the run continues when it returns",
  async () => {
    const files = ["", "-wal", "-shm"].map((end) => join(stage.home, `transcript.db${end}`));
    const doctor = await away(
      "gone",
      () => {
        for (const file of files) renameSync(file, `${file}.away`);
        return () => {
          for (const file of files) renameSync(`${file}.away`, file);
        };
      },
      /the file no longer exists/,
    );
    expect(doctor.out).toMatch(/transcript +.*\(created when needed\)/);
  },
);
