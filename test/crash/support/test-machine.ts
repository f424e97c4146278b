import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { connect, type Holdfast } from "../../../src/client/index.ts";
import { resolveHome } from "../../../src/config/home.ts";
import type { DevServer } from "../../../src/devserver/dev-server.ts";
import { startDevServer } from "../../../src/devserver/start-server.ts";
import { TEST_KEY_NAME } from "../../../src/testing/test-agent.ts";
import { startWorkerProcess, type WorkerProcess } from "../../../src/testing/worker-process.ts";
import { TEST_KEY } from "../../workflows/support/test-environment.ts";

/** One machine as `holdfast dev` sets it up: a home, its own Temporal server, a worker. All of it can be killed. */
export type TestMachine = {
  readonly home: string;
  readonly holdfast: Holdfast;
  readonly worker: WorkerProcess;
  /** Sends SIGKILL to worker and server, as in a power failure. */
  powerCut(): Promise<void>;
};

export async function startMachine(home: string): Promise<TestMachine> {
  const { server: dataDir } = resolveHome(home);
  const server = await startDevServer({ dataDir, port: 0, uiPort: 0 });
  const { address, namespace } = server;
  const worker = await startWorkerProcess({ address, namespace, home, env: { [TEST_KEY_NAME]: TEST_KEY } });
  const holdfast = await connect({ address, namespace, home });
  const powerCut = async (): Promise<void> => {
    await worker.kill("SIGKILL");
    await holdfast.close();
    await killServer(server, dataDir);
  };
  onTestFinished(async () => {
    await powerCut();
    await rm(home, { recursive: true, force: true });
  });
  return { home, holdfast, worker, powerCut };
}

async function killServer(server: DevServer, dataDir: string): Promise<void> {
  for (const pid of listChildren(findServerShell(dataDir))) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  }
  await server.stop();
}

function findServerShell(dataDir: string): number {
  return (JSON.parse(readFileSync(join(dataDir, "server.json"), "utf8")) as { pid: number }).pid;
}

function listChildren(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
      .trim()
      .split(" ")
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
}
