import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";
import { openCampaignEnvironment, VARIED_SCENARIOS } from "./support/campaign.ts";

const { play, stage } = openCampaignEnvironment();

/** By then, runs are in the middle of their work. */
const AT_WORK_MS = 2000;

thoroughTest(
  "the Temporal server is killed twice during active work, and restarted on its file: the runs continue",
  async () => {
    const { violations } = await play({
      name: "server",
      workers: [[]],
      scenarios: [...VARIED_SCENARIOS, "approval-pending"],
      during: async () => {
        await sleep(AT_WORK_MS);
        await stage().killServer(1000);
        await sleep(AT_WORK_MS);
        await stage().killServer(3000);
      },
    });
    expect(violations).toEqual([]);
  },
  180_000,
);

thoroughTest(
  "the Temporal server and a worker are killed at once",
  async () => {
    const { violations } = await play({
      name: "both",
      workers: [[]],
      scenarios: [...VARIED_SCENARIOS],
      during: async ({ keepers }) => {
        await sleep(AT_WORK_MS);
        const first = keepers[0]?.pid;
        keepers[0]?.signal("SIGKILL");
        await stage().killServer(5000);
        expect(keepers[0]?.pid).not.toBe(first);
      },
    });
    expect(violations).toEqual([]);
  },
  180_000,
);
