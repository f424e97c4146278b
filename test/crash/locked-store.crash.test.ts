import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "libsql";
import { expect } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";
import { openCampaignEnvironment, VARIED_SCENARIOS } from "./support/campaign.ts";

const { play } = openCampaignEnvironment();

/** Longer than a write by itself waits for a lock. */
const LOCKED_MS = 12_000;

thoroughTest(
  "a backup copies the store while agents work, and another program locks it: they wait, and the death of a worker in the meantime loses nothing",
  async () => {
    const { violations, kills } = await play({
      name: "locked",
      workers: [["store:before:30"]],
      scenarios: [...VARIED_SCENARIOS],
      during: async ({ home }) => {
        await sleep(1500);
        const database = new Database(join(home, "transcript.db"), { timeout: 5000 });
        database.exec(`VACUUM INTO '${join(home, "copy.db")}'`);
        database.exec("BEGIN IMMEDIATE");
        await sleep(LOCKED_MS);
        database.exec("ROLLBACK");
        database.close();
        const copy = new Database(join(home, "copy.db"));
        expect(copy.prepare("PRAGMA integrity_check").get()).toMatchObject({ integrity_check: "ok" });
        copy.close();
      },
    });
    expect(violations).toEqual([]);
    expect(kills).toHaveLength(1);
  },
  120_000,
);
