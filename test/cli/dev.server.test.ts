import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { DevStack } from "../support/dev-stack.ts";
import { thoroughTest } from "../support/test-depth.ts";

let folder: string;
let stack: DevStack | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-dev-"));
});
afterEach(async () => {
  await stack?.stop();
  await rm(folder, { recursive: true, force: true });
});

thoroughTest(
  "a dev stack survives the death of its Temporal server and a log that cannot be written",
  async () => {
    const home = join(folder, "home");
    await mkdir(home, { mode: 0o700 });
    // Writing there fails as on a full disk.
    await symlink("/dev/full", join(home, "worker.log"));
    stack = await DevStack.start(home);
    process.kill(stack.getServerPid(), "SIGKILL");
    await stack.waitForOutput(/the Temporal server ended by SIGKILL; starting another immediately/);
    await stack.waitForOutput(/the Temporal server is ready again, at 127\.0\.0\.1:\d+/);
    process.kill(stack.getServerPid(), "SIGKILL");
    await stack.waitForOutput(/the Temporal server is ready again/, 2);
    expect(stack.isRunning).toBe(true);
    expect(await stack.stop()).toBe(0);
  },
  120_000,
);
