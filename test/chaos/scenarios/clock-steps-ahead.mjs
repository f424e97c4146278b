import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createMovableClock } from "../parts/clock.mjs";
import { judgeWave, play } from "../parts/wave.mjs";

const STEPS = ["+3600", "+0"];

export default {
  name: "clock-steps-ahead",
  plays:
    'The clock of a worker steps an hour ahead and back (in seconds: ${STEPS.join(", ")}) while agents work, and the worker is killed.',
  promise: "Nothing depends on the wall clock: nothing is lost or done twice.",
  play: async (stage) => {
    const file = join(stage.folder, "clock");
    writeFileSync(file, "+0");
    return await play(stage, {
      workers: [["store:before:40"]],
      env: createMovableClock(file),
      during: async () => {
        for (const step of STEPS) {
          await sleep(1_500);
          writeFileSync(file, step);
        }
      },
    });
  },
  judge: (evidence) => judgeWave(evidence, { workersDied: true }),
};
