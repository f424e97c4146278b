import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { judgeDevAgents, playOnDev } from "../parts/dev-agents.mjs";
import { mountDisk } from "../parts/disk.mjs";

const FULL_MS = 5_000;

export default {
  name: "full-disk-server",
  plays:
    "Only the disk of the Temporal server below `holdfast dev` fills up while agents work, and has room again.",
  promise: "The server goes on, or dev restarts it; the agents answer, and each of their commands runs once.",
  play: async (stage) => {
    const home = stage.subfolder("home");
    const disk = mountDisk(stage, join(home, "server"), { megabytes: 48 });
    return await playOnDev(stage, home, async () => {
      disk.fill();
      await sleep(FULL_MS);
      disk.free();
    });
  },
  judge: judgeDevAgents,
};
