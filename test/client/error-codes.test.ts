import { writeFileSync } from "node:fs";
import { WorkflowUpdateRPCTimeoutOrCancelledError } from "@temporalio/client";
import { expect, test } from "vitest";
import { createNoLoopWhileIdleError } from "../../src/client/client-errors.ts";
import type { ClientLink } from "../../src/client/connection/client-link.ts";
import { readMessages } from "../../src/client/read/read-messages.ts";
import { addOutput } from "../../src/client/runs/read-output.ts";
import { sendRunUpdate } from "../../src/client/runs/send-run-update.ts";
import { Storage } from "../../src/client/sessions/storage.ts";
import { resolveHome } from "../../src/config/home.ts";
import { NO_USAGE } from "../../src/core/budget/usage.ts";
import { raiseLimitsUpdate } from "../../src/workflows/messages.ts";
import type { RunResult } from "../../src/workflows/run-result.ts";
import { createKeyEnvironment } from "../codec/key-environment.ts";
import { writeMarkedSession } from "../transcript/marked-session.ts";
import { SqliteFixture } from "../transcript/sqlite-fixture.ts";

Object.assign(process.env, createKeyEnvironment("TEST_ERRORS_A", "TEST_ERRORS_B"));
const keys = (text: string) => ({ keys: text, transcript: true });
const bench = SqliteFixture.forEachTest();

/** A client whose transcript is in the test's folder, and whose server says that it has no such run. */
function linkTo(encryption?: { keys: string }, client: object = {}): ClientLink {
  return {
    address: "a",
    namespace: "n",
    taskQueue: "q",
    storage: new Storage(
      resolveHome(bench.folder),
      { transcript: undefined, hub: undefined },
      undefined,
      encryption,
    ),
    connection: { withDeadline: (_: number, ask: () => unknown) => ask() },
    client,
  } as unknown as ClientLink;
}

test("no-worker: nobody answers an update in time", async () => {
  const executeUpdate = async () => {
    throw new WorkflowUpdateRPCTimeoutOrCancelledError("Deadline exceeded");
  };
  const link = linkTo(undefined, { workflow: { getHandle: () => ({ executeUpdate }) } });
  const sent = sendRunUpdate(link, "s", raiseLimitsUpdate, { maxTurns: 2 }, createNoLoopWhileIdleError);
  await expect(sent).rejects.toMatchObject({
    code: "no-worker",
    facts: { session: "s", taskQueue: "q", command: "holdfast worker" },
  });
});

test("output-unreadable: an output that is too long for a result is in a transcript elsewhere", async () => {
  const result: RunResult = {
    session: "s",
    branch: "main",
    outcome: { type: "answered", stopReason: "stop" },
    usage: NO_USAGE,
    costUsd: 0,
    turns: 1,
    durationMs: 0,
    json: "elsewhere" as never,
  };
  await expect(addOutput(linkTo(), result, undefined)).rejects.toMatchObject({
    code: "output-unreadable",
    message: expect.stringContaining(bench.folder),
  });
});

test("key-missing: the transcript is encrypted with a key that this process does not have", async () => {
  const transcript = await bench.open({ encryption: keys("a=env:TEST_ERRORS_A") });
  await writeMarkedSession(transcript);
  const message = expect.stringContaining('Encrypted with key "a"');
  const link = linkTo(keys("b=env:TEST_ERRORS_B"));
  await expect(readMessages(link, "s")).rejects.toMatchObject({ code: "key-missing", message });
  await link.storage.close();
});

test("store-failed: the file of the transcript is damaged", async () => {
  writeFileSync(bench.path, "this is no database, however long one looks at it".repeat(100));
  await expect(readMessages(linkTo(), "s")).rejects.toMatchObject({
    code: "store-failed",
    message: expect.stringContaining(bench.path),
  });
});
