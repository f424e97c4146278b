// npm run test:loaded: the tests of `npm test` while two other processes keep the processors busy. A test that fails here but
// not on an idle machine depends on timing.
//
//   npm run test:loaded [-- --times N] [-- ARGUMENTS FOR VITEST]     N runs, one by default; ends at the first failure
import { spawn, spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const BUSY_LOOPS = 2;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const rest = process.argv.slice(2);
const at = rest.indexOf("--times");
const times = at < 0 ? 1 : Number(rest.splice(at, 2)[1]);
if (!Number.isInteger(times) || times < 1) {
  console.error("test:loaded: --times must be a whole number of 1 or more, such as --times 3");
  process.exit(2);
}

// A busy loop checks once a second whether its parent process exists, so that it does not outlive a killed run.
const BUSY = `const starter = process.ppid;
for (;;) {
  const until = Date.now() + 1000;
  while (Date.now() < until);
  if (process.ppid !== starter) process.exit();
}`;
const loops = Array.from({ length: BUSY_LOOPS }, () =>
  spawn(process.execPath, ["-e", BUSY], { stdio: "ignore" }),
);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});

let status = 0;
for (let run = 1; run <= times && status === 0; run += 1) {
  const started = Date.now();
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const ended = spawnSync(process.execPath, [vitest, "run", "--mode", "quick", ...rest], {
    cwd: root,
    stdio: "inherit",
  });
  status = ended.status ?? 1;
  const seconds = ((Date.now() - started) / 1000).toFixed(0);
  console.log(`test:loaded: run ${run} of ${times} ${status === 0 ? "passed" : "FAILED"} in ${seconds} s`);
}
for (const loop of loops) loop.kill("SIGKILL");
process.exit(status);
