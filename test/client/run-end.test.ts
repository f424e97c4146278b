import { expect, test } from "vitest";
import { GRPC } from "../../src/client/grpc-status.ts";
import type { Link } from "../../src/client/link.ts";
import { runEnd } from "../../src/client/run-end.ts";

/** A server that gives these answers, one after the other. */
function answering(...answers: (Error | "ended")[]) {
  let asked = 0;
  const handle = {
    result: async () => {
      const answer = answers[Math.min(asked++, answers.length - 1)];
      if (answer instanceof Error) throw answer;
      return { outcome: { type: "answered" } };
    },
  };
  const link = {
    client: { workflow: { getHandle: () => handle } },
    connection: { withAbortSignal: (_: AbortSignal, ask: () => Promise<unknown>) => ask() },
  };
  return { link: link as unknown as Link, times: () => asked };
}

const away = Object.assign(new Error("14 UNAVAILABLE: no connection"), {
  code: GRPC.unavailable,
  details: "",
  metadata: {},
});

test("a server that is started again is waited for", async () => {
  const { link, times } = answering(away, away, "ended");
  const { signal } = new AbortController();
  expect(await runEnd(link, "s", { runId: undefined, signal })).toBeUndefined();
  expect(times()).toBe(3);
});

test("who leaves does not wait for it", async () => {
  const { link } = answering(away);
  const leaving = new AbortController();
  const end = runEnd(link, "s", { runId: undefined, signal: leaving.signal });
  leaving.abort();
  expect(await end).toBeUndefined();
});
