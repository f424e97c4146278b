import { setTimeout as sleep } from "node:timers/promises";
import { startProxy } from "../parts/proxy.mjs";
import { AT_WORK_MS, judgeWave, play } from "../parts/wave.mjs";

/** Longer than heartbeats are waited for. */
const APART_MS = 20_000;

export default {
  name: "partition",
  plays:
    "The connection between one of two workers and Temporal stalls for 20 seconds, without an error on either side, and flows again.",
  promise:
    "The other worker takes over; what the cut-off one did meanwhile is neither stored twice nor run twice.",
  play: async (stage) => {
    const campaign = await stage.campaign();
    const proxy = await startProxy(stage, Number(campaign.address.split(":")[1]));
    return await play(stage, {
      workers: [[]],
      during: async ({ keep }) => {
        await keep([], {}, { address: proxy.address });
        await sleep(AT_WORK_MS);
        proxy.stall();
        await sleep(APART_MS);
        proxy.flow();
      },
    });
  },
  // Nobody can tell a worker that is cut off from a dead one: the outcome of its unsafe calls is unknown.
  judge: (evidence) => judgeWave(evidence, { workersDied: true }),
};
