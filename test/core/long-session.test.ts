import { describe, expect, test } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";
import { play } from "./support/run.ts";
import { calls, says } from "./support/script.ts";

const PATIENCE_MS = 120_000;

describe("long sessions", () => {
  thoroughTest(
    "of three thousand turns keep a state under 64 KiB, and a view of all entries [RIG-04.3]",
    async () => {
      const turns = 3000;
      const text = "x".repeat(2000);
      const replies = Array.from({ length: turns - 1 }, (_, turn) =>
        turn % 7 === 0
          ? calls("bash", "edit", "unknown")
          : { ...calls({ name: "read", arguments: { text: "y".repeat(120) } }), text },
      );
      const run = play({ replies: [...replies, says(text)], light: true, strategy: { type: "sequential" } });
      for (let steps = 0; run.command.type !== "finish"; steps++) {
        if (steps % 50 === 0) run.steer(text);
        if (steps % 400 === 0) run.rotationDue();
        await run.step();
      }
      expect(run.state.totals.turns).toBeGreaterThanOrEqual(turns);
      expect(run.seen.largestState).toBeLessThan(64 * 1024);
      const { view, length } = run.state;
      expect(view.spans.length).toBeLessThanOrEqual(48);
      expect(view.spans[0]?.from).toBe(0);
      expect(view.spans.at(-1)?.to).toBe(length);
      expect(length).toBeGreaterThan(2 * turns);
    },
    PATIENCE_MS,
  );

  test(
    "of three hundred loops keep a state under 64 KiB [RIG-04.3]",
    async () => {
      const run = await play({ mode: "interactive", light: true }).settle();
      for (let loop = 0; loop < 300; loop++) await run.prompt("words ".repeat(100)).settle();
      expect(run.state.totals.loops).toBe(301);
      expect(run.seen.largestState).toBeLessThan(64 * 1024);
      expect(run.state.view.spans.at(-1)?.to).toBe(run.state.length);
    },
    PATIENCE_MS,
  );
});
