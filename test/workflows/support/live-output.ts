import { openHub } from "../../../src/store/stream/open-hub.ts";
import type { Delta } from "../../../src/store/stream/stream-hub.ts";
import type { TestEnvironment } from "./test-environment.ts";
import type { TestSession } from "./test-session.ts";

/** Watches live output from now on: it is not stored for readers that connect after it is recorded. */
export function watchLiveOutput(stage: TestEnvironment, session: TestSession) {
  const opened = openHub({ folder: stage.home, database: undefined });
  const signal = AbortSignal.timeout(30_000);
  const deltas: Delta[] = [];
  const watching = (async () => {
    const hub = await opened;
    for await (const { delta } of hub.watch({ session: session.id, signal })) {
      deltas.push(delta);
      // The message about the close of the loop is the last one.
      if (delta.body.type === "recorded" && (await hasEnded(stage, delta))) return;
    }
  })();
  return {
    /** Everything, up to the message that the loop's last events are recorded. */
    async all(): Promise<readonly Delta[]> {
      await watching.finally(async () => (await opened).close());
      return deltas;
    },
  };
}

async function hasEnded(stage: TestEnvironment, { loopId, body }: Delta): Promise<boolean> {
  const last = (await stage.transcript.readEvents(loopId, 0)).at(-1);
  return last?.body.type === "AgentEnd" && body.type === "recorded" && body.sequence === last.sequence;
}
