import { LocalHub } from "../../../src/stream/local-hub.ts";
import type { Delta } from "../../../src/stream/stream.ts";
import type { Session } from "./session.ts";
import type { Stage } from "./temporal.ts";

/** Everything that was shown live, up to the word that the run's last events are recorded. */
export async function shownLive(stage: Stage, session: Session): Promise<readonly Delta[]> {
  const last = (await session.events()).at(-1)?.sequence;
  const hub = new LocalHub(stage.home);
  const signal = AbortSignal.timeout(10_000);
  const deltas: Delta[] = [];
  try {
    for await (const { delta } of hub.watch({ session: session.id, signal })) {
      deltas.push(delta);
      if (delta.body.type === "recorded" && delta.body.sequence === last) break;
    }
  } finally {
    await hub.close();
  }
  return deltas;
}
