import { expect } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";
import { openCampaignEnvironment, VARIED_SCENARIOS } from "./support/campaign.ts";

const { play } = openCampaignEnvironment();

thoroughTest(
  "two workers at once, each killed in the middle of its work: the other one and the replacement continue all of it",
  async () => {
    const { violations, kills } = await play({
      name: "pair",
      workers: [["stream:bytes:120"], ["store:before:25"]],
      scenarios: [...VARIED_SCENARIOS, "approval-pending", "stop-in-flight"],
    });
    expect(violations).toEqual([]);
    expect(kills.map(({ point }) => point).sort()).toEqual(["store:before", "stream:bytes"]);
    for (const { sessions } of kills) expect(sessions.length).toBeGreaterThan(0);
  },
  120_000,
);
