import { expect, inject } from "vitest";
import { thoroughTest } from "../../support/test-depth.ts";
import { proveCrashes } from "./crash/crash-proof.ts";

// `npm run git-crash` kills at every step.

const KILLS = 2;

thoroughTest(
  "a review, and a commit by the command line, survive kills of the worker and of the command",
  async () => {
    const lines: string[] = [];
    const figures = await proveCrashes({
      ...inject("temporal"),
      maxKills: KILLS,
      report: (line) => lines.push(line),
    });
    expect(figures, lines.join("\n")).toMatchObject({
      commandKills: KILLS,
      ...{ missed: 0, differentArtifacts: 0, differentObjects: 0, repaid: 0, problems: 0 },
    });
    expect(figures.reviewKills).toBeGreaterThanOrEqual(KILLS);
    expect(figures.commitKills).toBeGreaterThanOrEqual(KILLS);
  },
  600_000,
);
