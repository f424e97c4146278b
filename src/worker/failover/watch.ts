import { at } from "../../platform/kill-point.ts";
import type { Logger } from "../../platform/log.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { WorkerProcess } from "../../store/transcript/worker-process.ts";
import { freeRemains } from "./free-remains.ts";
import { isGone } from "./process-identity.ts";
import type { Takeover } from "./takeover.ts";

/** A sibling's death is noticed within this. */
const LOOK_EVERY_MS = 1000;

export type Watch = {
  /** Ends the looking and signs the process out. */
  readonly stop: () => Promise<void>;
};

/**
 * Signs a worker process in, looks for dead ones of its own host at once and then every second, and frees what they
 * held. Two siblings may find the same one: freeing twice does no harm.
 */
export async function watchSiblings(
  self: WorkerProcess,
  transcript: Transcript,
  takeover: Takeover,
  log: Logger,
): Promise<Watch> {
  await transcript.signIn(self);
  at("recovery:signed-in");
  let looking = Promise.resolve();
  const look = async () => {
    for (const sibling of await transcript.processes(self.host)) {
      if (sibling.id === self.id || sibling.namespace !== self.namespace || !isGone(sibling)) continue;
      await freeRemains(sibling, await transcript.remains(sibling.id), takeover, log);
      at("recovery:activities-failed");
      await transcript.signOut(sibling.id);
    }
  };
  const lookSafely = () => {
    looking = looking.then(look).catch((error: unknown) => {
      log.warn({ error: String(error) }, "Could not look after dead workers; trying again");
    });
    return looking;
  };
  await lookSafely();
  const timer = setInterval(lookSafely, LOOK_EVERY_MS);
  timer.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await looking;
      await transcript.signOut(self.id).catch(() => undefined);
    },
  };
}
