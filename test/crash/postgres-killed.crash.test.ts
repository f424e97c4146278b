import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";
import {
  findPostgresBinaries,
  NO_POSTGRES,
  type PostgresServer,
  startPostgres,
} from "../support/postgres.ts";
import { describeIf } from "../support/skipping.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openCampaignEnvironment, VARIED_SCENARIOS } from "./support/campaign.ts";

describeIf(findPostgresBinaries() !== undefined, NO_POSTGRES)("with the transcript in PostgreSQL", () => {
  const { play } = openCampaignEnvironment();
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());

  thoroughTest(
    "PostgreSQL is killed while agents work, each of two workers dies during a commit, and all return: nothing is lost, nothing is done twice",
    async () => {
      const { violations, kills } = await play({
        name: "postgres",
        workers: [["commit:end:20"], ["commit:done:20"]],
        scenarios: [...VARIED_SCENARIOS],
        env: { HOLDFAST_DATABASE_URL: postgres.url(await postgres.database()) },
        during: async () => {
          await sleep(2000);
          await postgres.kill();
          await sleep(2000);
          await postgres.start();
        },
      });
      expect(violations).toEqual([]);
      expect(kills.map(({ point }) => point).sort()).toEqual(["commit:done", "commit:end"]);
      expect(kills.flatMap(({ sessions }) => sessions)).not.toEqual([]);
    },
    150_000,
  );
});
