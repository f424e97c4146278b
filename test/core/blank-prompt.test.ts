import { describe, expect, test } from "vitest";
import { apply } from "../../src/core/machine/apply.ts";
import { next } from "../../src/core/machine/next.ts";
import { buildInitialState } from "../../src/core/machine/start.ts";

const PROBLEM = "The prompt has no text.";
const begun = () =>
  apply(
    buildInitialState({
      session: "s",
      mode: "run",
      idleTimeoutMs: null,
      localSteps: false,
      requestedDefinition: {},
      prompts: [],
      problem: PROBLEM,
      nowMs: 0,
    }),
    { type: "started", atMs: 0 },
  );
const failed = { type: "failed", fault: "invalid", message: PROBLEM };

describe("a run that is started with a blank prompt", () => {
  test("fails with the reason, without a model call", () => {
    expect(next(begun())).toMatchObject({ type: "finish", last: { outcome: failed } });
  });

  test("first stores a message that arrived with the start in the inbox", () => {
    const steered = apply(begun(), { type: "steered", message: { id: "m", text: "x", atMs: 1 }, atMs: 1 });
    expect(next(steered)).toMatchObject({ type: "record", inbox: [{ id: "m" }] });
    const recorded = apply(steered, { type: "recorded", digest: { branch: "" }, atMs: 2 });
    expect(next(recorded)).toMatchObject({ type: "finish", last: { outcome: failed } });
  });
});
