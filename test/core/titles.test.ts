import { expect, test } from "vitest";
import { apply } from "../../src/core/machine/apply.ts";
import { formatDashboard } from "../../src/core/machine/dashboard.ts";
import { next } from "../../src/core/machine/next.ts";
import { applyOpenedLoop } from "../../src/core/machine/open-loop.ts";
import { buildInitialState, type StartInput } from "../../src/core/machine/start.ts";
import type { LoopDigest } from "../../src/core/machine/state/digest.ts";
import { buildStatus } from "../../src/core/machine/status.ts";
import { play } from "./support/run.ts";

const begin = (input: Partial<StartInput> = {}) =>
  apply(
    buildInitialState({
      session: "s",
      mode: "run",
      idleTimeoutMs: null,
      localSteps: true,
      requestedDefinition: { hash: "h" },
      prompts: [{ id: "m", text: "Fix it", atMs: 0 }],
      nowMs: 0,
      ...input,
    }),
    { type: "started", atMs: 0 },
  );

test("the first loop of a run opens with the requested title, and later loops without one", async () => {
  expect(next(begin({ title: "Mine", showsTitle: true }))).toMatchObject({
    type: "open-loop",
    title: "Mine",
    showsTitle: true,
  });
  const run = await play({ mode: "interactive" }).settle();
  expect(run.state.requestedTitle).toBeUndefined();
});

test("a run that displays no title neither asks for one nor keeps one", () => {
  const state = begin();
  expect(next(state)).not.toHaveProperty("showsTitle");
  expect(apply(state, { type: "title-changed", title: "Other", atMs: 1 }).title).toBeUndefined();
});

test("a title that the user has given while a loop is opened stays, in status and details", () => {
  const run = play({ held: true });
  const shown = { ...run.state, showsTitle: true as const };
  const renamed = apply(shown, { type: "title-changed", title: "Mine", atMs: 1 });
  expect(renamed.title).toEqual({ text: "Mine", by: "user" });
  expect(buildStatus(renamed).title).toBe("Mine");
  expect(formatDashboard(renamed)).toContain("- **Title**: Mine");
  const digest = { entries: [], title: { text: "hi", by: "prompt" } } as unknown as LoopDigest;
  expect(applyOpenedLoop(renamed, digest, false).title).toEqual({ text: "Mine", by: "user" });
  expect(applyOpenedLoop(shown, digest, false).title).toEqual({ text: "hi", by: "prompt" });
});
