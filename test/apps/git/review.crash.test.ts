import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "vitest";
import { superviseWorker } from "../../../src/testing/supervised-worker.ts";
import { runHoldfast } from "../../cli/terminal.ts";
import { thoroughTest } from "../../support/test-depth.ts";
import { formatConnectionOptions } from "../../workflows/support/test-client.ts";
import { openTestEnvironment } from "../../workflows/support/test-environment.ts";
import { GATES, scriptReview } from "./review-script.ts";
import { createReviewedRepository } from "./reviewed-repository.ts";

const TOOLS = resolve(import.meta.dirname, "../../../dist/apps/git/worker-tools.js");

thoroughTest(
  "a worker that is killed at every step of a review with four sub-agents costs no answer, and the artifact is the same",
  async () => {
    expect(existsSync(TOOLS)).toBe(true);
    const stage = await openTestEnvironment({ worker: false });
    const { address, namespace, home, taskQueue, model } = stage;
    const worker = await superviseWorker({ address, namespace, home, taskQueue, tools: [TOOLS] });
    const repository = createReviewedRepository();
    const review = async (session: string) => {
      const flags = ["--model", "local/test-model", "--base-url", model.openaiBaseUrl, "--json"];
      const place = ["--repo", repository.folder, "--commit", repository.head, "--session", session];
      const { out, err } = await runHoldfast([
        ...["git", "review"],
        ...place,
        ...flags,
        ...formatConnectionOptions(stage),
      ]);
      const result = JSON.parse(out.trim().split("\n").at(-1) ?? "{}");
      expect(result.type, err).toBe("result");
      return result;
    };
    try {
      model.script(scriptReview(repository));
      const { artifact, coverage } = await review("undisturbed");
      expect(coverage.sentence).toBe("4 of 4 hunks examined (4 by agents), 1 generated file skipped");
      model.reset();
      model.script(scriptReview({ ...repository, isHeld: true }));
      const ended = review("killed");
      for (const gate of GATES) {
        await model.waitForHold(gate, { timeoutMs: 60_000 });
        await worker.kill("SIGKILL");
        model.release(gate);
      }
      expect(await ended).toMatchObject({ artifact, coverage, verdict: { type: "judged" } });
      expect(worker.restarts()).toBe(GATES.length);
      const paid = model.paid().map(({ conversation, turn, answered }) => ({ conversation, turn, answered }));
      expect(paid.length).toBeGreaterThan(10);
      expect(paid.filter(({ answered }) => answered !== 1)).toEqual([]);
    } finally {
      await worker.stop();
      repository.remove();
      await stage.close();
    }
  },
);
