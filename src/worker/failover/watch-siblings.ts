import { reachKillPoint } from "../../platform/kill-point.ts";
import type { Logger } from "../../platform/log.ts";
import { isProcessDead } from "../../platform/process/process-id.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { WorkerProcess } from "../../store/transcript/worker-process.ts";
import { releaseDeadWork } from "./release-dead-work.ts";
import type { Takeover } from "./takeover.ts";

/** A sibling's death is noticed within this time. */
const POLL_INTERVAL_MS = 1000;

export type SiblingWatch = {
  /** Stops watching and unregisters the process. */
  readonly stop: () => Promise<void>;
};

/**
 * Registers a worker process, searches for dead processes of its own host at once and then every second, and frees
 * their work. Two siblings may find the same dead process: freeing its work twice does no harm.
 */
export async function watchSiblings(
  self: WorkerProcess,
  transcript: Transcript,
  takeover: Takeover,
  log: Logger,
): Promise<SiblingWatch> {
  await transcript.registerProcess(self);
  reachKillPoint("recovery:signed-in");
  let looking = Promise.resolve();
  const look = async () => {
    for (const sibling of await transcript.listProcesses(self.host)) {
      if (sibling.id === self.id || sibling.namespace !== self.namespace || !isProcessDead(sibling)) continue;
      await releaseDeadWork(sibling, await transcript.findDeadProcessWork(sibling.id), takeover, log);
      reachKillPoint("recovery:activities-failed");
      await transcript.unregisterProcess(sibling.id);
    }
  };
  const lookSafely = () => {
    looking = looking.then(look).catch((error: unknown) => {
      log.warn({ error: String(error) }, "Could not check for dead workers; retrying");
    });
    return looking;
  };
  await lookSafely();
  const timer = setInterval(lookSafely, POLL_INTERVAL_MS);
  timer.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await looking;
      await transcript.unregisterProcess(self.id).catch(() => undefined);
    },
  };
}
