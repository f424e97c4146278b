import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openCampaignEnvironment } from "./support/campaign.ts";

const { play, stage } = openCampaignEnvironment();

/** Each rejection is one log line. */
function refusals(log: string): number {
  return readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => /fenced|FencedError/.test(line)).length;
}

thoroughTest(
  "frozen right before an answer is stored, for longer than its heartbeats: another worker requests it again, and the fence rejects the late write",
  async () => {
    let refused = 0;
    const { violations, again } = await play({
      name: "frozen",
      workers: [],
      scenarios: ["asleep", "asleep", "asleep", "asleep"],
      during: async ({ keep, runs, killLog }) => {
        const debug = { HOLDFAST_LOG: "debug" };
        const asleep = await keep(["store:before:1"], { HOLDFAST_KILL_SIGNAL: "SIGSTOP", ...debug });
        await eventually(() => readFileSync(killLog, "utf8").includes('"stopped"'));
        await keep([], debug);
        const asked = (session: string) =>
          stage()
            .vendorLog.of(session)
            .filter(({ type }) => type === "asked").length;
        // The others stream slowly: their steps are claimed, and nothing is stored yet.
        await eventually(() => runs.every(({ session }) => asked(session) === 2));
        asleep.keeper.signal("SIGCONT");
        await eventually(() => refusals(asleep.log) > 0, { what: "a refusal of a late write" });
        refused = refusals(asleep.log);
      },
    });
    expect(violations).toEqual([]);
    expect(refused).toBeGreaterThanOrEqual(1);
    // The suspended worker had its complete answer, which is in no transcript.
    expect(again.some((causes) => Object.keys(causes).some((cause) => cause.startsWith("delivered")))).toBe(
      true,
    );
  },
  120_000,
);
