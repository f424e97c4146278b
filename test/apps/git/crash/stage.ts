import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTranscript } from "../../../../src/store/transcript/open-transcript.ts";
import type { Transcript } from "../../../../src/store/transcript/transcript.ts";
import type { WorkerTarget } from "./killed-worker.ts";
import { type CountingVendor, startCountingVendor } from "./vendor.ts";

/** A folder, a vendor and a queue of their own on a server. */
export type Stage = WorkerTarget & {
  readonly vendor: CountingVendor;
  readonly transcript: Transcript;
  /** The options by which commands find them. */
  readonly connection: readonly string[];
  close(): Promise<void>;
};

export async function openStage(server: Pick<WorkerTarget, "address" | "namespace">): Promise<Stage> {
  const { address, namespace } = server;
  const home = mkdtempSync(join(tmpdir(), "holdfast-git-crash-"));
  const taskQueue = `git-crash-${process.pid}-${Date.now()}`;
  const vendor = await startCountingVendor();
  const transcript = await openTranscript({ path: join(home, "transcript.db"), database: undefined });
  return {
    ...{ address, namespace, home, taskQueue, vendor, transcript },
    connection: [
      ...["--address", address, "--namespace", namespace],
      ...["--home", home, "--task-queue", taskQueue],
    ],
    close: async () => {
      await vendor.model.stop();
      await transcript.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
