import { describe, expect, test } from "vitest";
import { apply } from "../../src/core/machine/apply.ts";
import { next } from "../../src/core/machine/next.ts";
import { buildInitialState } from "../../src/core/machine/start.ts";
import type { State } from "../../src/core/machine/state/state.ts";
import type { Continuation } from "../../src/schema/continuation.ts";

// A run that is started to continue a session's conversation, with messages that arrive before and with the start.

const message = (id: string) => ({ id, text: id, atMs: 0 });

function begun(continuation: Continuation): State {
  const common = { session: "s", mode: "run", idleTimeoutMs: null, localSteps: true } as const;
  const asked = { hash: "hash-asked" };
  const fresh = buildInitialState({
    ...common,
    requestedDefinition: asked,
    prompts: [message("prompt")],
    continuation,
    nowMs: 0,
  });
  const steered = apply(fresh, { type: "steered", message: message("steering"), atMs: 1 });
  const queued = apply(steered, { type: "followed-up", message: message("follow-up"), atMs: 2 });
  return apply(queued, { type: "started", atMs: 3 });
}

const ids = (messages: readonly { readonly id: string }[]) => messages.map(({ id }) => id);

describe("a continuation", () => {
  test("opens its loop with the queued steering before the prompts, each with its origin; follow-ups stay queued [LOOP-08]", () => {
    const continuation = { kind: { type: "rerun" as const, tag: "t" } };
    const state = begun(continuation);
    expect(next(state)).toMatchObject({
      type: "open-loop",
      continuation,
      prompts: [
        { id: "steering", text: "steering", origin: "steering" },
        { id: "prompt", text: "prompt", origin: "prompt" },
      ],
    });
    expect(ids(state.queues.steering)).toEqual([]);
    expect(ids(state.queues.followUps)).toEqual(["follow-up"]);
  });

  test("that compacts delivers no messages: they stay queued, and the state contains its focus [CMP-13.2]", () => {
    const continuation = { kind: { type: "compaction" as const }, focus: "the prices" };
    const state = begun(continuation);
    expect(next(state)).toMatchObject({ type: "open-loop", continuation, prompts: [] });
    expect(state.requestedCompaction).toEqual({ focus: "the prices" });
    expect(ids(state.queues.steering)).toEqual(["steering"]);
    expect(ids(state.queues.followUps)).toEqual(["follow-up", "prompt"]);
  });
});
