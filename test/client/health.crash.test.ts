import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, inject } from "vitest";
import { connect } from "../../src/client/connection/connect.ts";
import { startWorkerProcess } from "../../src/testing/worker-process.ts";
import { NO_PROC, testIf } from "../support/skipping.ts";

const { address, namespace } = inject("temporal");
const home = await mkdtemp(join(tmpdir(), "holdfast-health-"));
afterAll(() => rm(home, { recursive: true, force: true }));

const countPollers = async (holdfast: Awaited<ReturnType<typeof connect>>) => {
  const { pollers } = await holdfast.health();
  return "workflow" in pollers ? pollers : undefined;
};

testIf(process.platform === "linux", NO_PROC)(
  "a killed worker does not count as polling, although the server lists it for minutes",
  async () => {
    const taskQueue = `killed-${randomUUID()}`;
    const worker = await startWorkerProcess({ address, namespace, home, taskQueue });
    const holdfast = await connect({ address, namespace, home, taskQueue });
    await expect.poll(() => countPollers(holdfast)).toEqual({ workflow: 1, activity: 1 });
    await worker.kill("SIGKILL");
    expect(await countPollers(holdfast)).toEqual({ workflow: 0, activity: 0 });
    await holdfast.close();
  },
);
