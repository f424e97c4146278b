import { expect, test } from "vitest";
import type { ClientLink } from "../../src/client/connection/client-link.ts";
import { GRPC } from "../../src/client/connection/grpc-status.ts";
import { awaitResult } from "../../src/client/runs/await-result.ts";
import { waitForRunEnd } from "../../src/client/runs/run-end.ts";

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
  return { link: link as unknown as ClientLink, times: () => asked };
}

const away = Object.assign(new Error("14 UNAVAILABLE: no connection"), {
  code: GRPC.unavailable,
  details: "",
  metadata: {},
});

test("the wait outlasts a server restart", async () => {
  const { link, times } = answering(away, away, "ended");
  const { signal } = new AbortController();
  expect(await waitForRunEnd(link, "s", { runId: undefined, signal })).toBeUndefined();
  expect(times()).toBe(3);
});

test("a wait for a result survives every error of a restarting server, for as long as its caller waits", async () => {
  const saying = (code: number, details: string) =>
    Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: {} });
  const { link, times } = answering(
    away,
    saying(GRPC.unavailable, "shard status unknown"),
    saying(GRPC.internal, "sql: database is closed"),
    saying(GRPC.resourceExhausted, "namespace rate limit exceeded"),
    "ended",
  );
  expect(await awaitResult(link, "s")).toMatchObject({ outcome: { type: "answered" } });
  expect(times()).toBe(5);
});

test("a result that its caller no longer waits for, or that the server refuses, is an error at once", async () => {
  const { link, times } = answering(away);
  const signal = AbortSignal.timeout(100);
  await expect(awaitResult(link, "s", { signal })).rejects.toMatchObject({ code: "wait-cancelled" });
  const asked = times();
  expect(asked).toBeGreaterThan(0);
  const denied = Object.assign(new Error("7: no"), {
    code: GRPC.permissionDenied,
    details: "",
    metadata: {},
  });
  const refusing = answering(denied, "ended");
  await expect(awaitResult(refusing.link, "s")).rejects.toMatchObject({ code: "server-refused" });
  expect(refusing.times()).toBe(1);
});

test("a caller that leaves does not wait for it", async () => {
  const { link } = answering(away);
  const leaving = new AbortController();
  const end = waitForRunEnd(link, "s", { runId: undefined, signal: leaving.signal });
  leaving.abort();
  expect(await end).toBeUndefined();
});
