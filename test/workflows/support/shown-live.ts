import { LocalHub } from "../../../src/store/stream/local-hub.ts";
import type { Delta } from "../../../src/store/stream/stream.ts";
import type { Session } from "./session.ts";
import type { Stage } from "./temporal.ts";

/** Watches what is shown live from now on: it is not kept for those who come when it is recorded. */
export function watchLive(stage: Stage, session: Session) {
  const hub = new LocalHub(stage.home);
  const signal = AbortSignal.timeout(30_000);
  const deltas: Delta[] = [];
  const watching = (async () => {
    for await (const { delta } of hub.watch({ session: session.id, signal })) {
      deltas.push(delta);
      // The word on the close of the loop is the last one.
      if (delta.body.type === "recorded" && (await hasEnded(stage, delta))) return;
    }
  })();
  return {
    /** Everything, up to the word that the loop's last events are recorded. */
    async all(): Promise<readonly Delta[]> {
      await watching.finally(() => hub.close());
      return deltas;
    },
  };
}

async function hasEnded(stage: Stage, { loopId, body }: Delta): Promise<boolean> {
  const last = (await stage.transcript.events(loopId, 0)).at(-1);
  return last?.body.type === "AgentEnd" && body.type === "recorded" && body.sequence === last.sequence;
}
