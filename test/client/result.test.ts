import { WorkflowFailedError } from "@temporalio/client";
import {
  ApplicationFailure,
  RetryState,
  TerminatedFailure,
  TimeoutFailure,
  TimeoutType,
} from "@temporalio/common";
import { expect, test } from "vitest";
import type { ClientLink } from "../../src/client/connection/client-link.ts";
import { awaitResult } from "../../src/client/runs/await-result.ts";
import { NO_USAGE } from "../../src/core/budget/usage.ts";
import type { RunResult } from "../../src/workflows/run-result.ts";

const failed: RunResult = {
  session: "s",
  branch: "main",
  outcome: { type: "failed", fault: "rejected", message: "no" },
  usage: NO_USAGE,
  costUsd: 0,
  turns: 0,
  durationMs: 0,
};

function linkOf(result: () => Promise<unknown>): ClientLink {
  return {
    address: "a",
    namespace: "n",
    client: { workflow: { getHandle: () => ({ result }) } },
  } as unknown as ClientLink;
}

function failing(cause: Error): ClientLink {
  return linkOf(() =>
    Promise.reject(new WorkflowFailedError("failed", cause, RetryState.NON_RETRYABLE_FAILURE)),
  );
}

test("a run whose agent reports a failure returns its result", async () => {
  const cause = ApplicationFailure.create({ type: "holdfast/run-failed", details: [failed] });
  expect(await awaitResult(failing(cause), "s")).toEqual(failed);
});

test.each([
  ["run-terminated", new TerminatedFailure("by an operator")],
  ["run-timed-out", new TimeoutFailure("too long", undefined, TimeoutType.START_TO_CLOSE)],
  ["run-failed", ApplicationFailure.create({ type: "other", message: "odd" })],
])("%s when it ended in another way", async (code, cause) => {
  await expect(awaitResult(failing(cause), "s")).rejects.toMatchObject({ code, facts: { session: "s" } });
});

test("a wait that its caller aborts is not reported as rejected by the server", async () => {
  const leave = new AbortController();
  const cancelled = Object.assign(new Error("1 CANCELLED: Cancelled on client"), {
    code: 1,
    details: "Cancelled on client",
  });
  const link = {
    ...linkOf(() => Promise.reject(cancelled)),
    connection: {
      withAbortSignal: async (_: AbortSignal, ask: () => Promise<unknown>) => {
        leave.abort();
        return await ask();
      },
    },
  } as unknown as ClientLink;
  await expect(awaitResult(link, "s", { signal: leave.signal })).rejects.toMatchObject({
    code: "wait-cancelled",
    message: expect.stringMatching(/cancelled the wait for the result of session s. The run continues/),
  });
});
