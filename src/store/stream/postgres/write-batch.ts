import { hashTopic } from "../../postgres/channel.ts";
import type { LineCodec } from "../line-codec.ts";
import type { Delta } from "../stream-hub.ts";
import { insertDeltas, notifyChannel, readNewestPositions } from "./delta-rows.ts";
import type { HubDatabase } from "./open-hub-database.ts";
import type { Sweeper } from "./sweeper.ts";

/** Writes lines of one session, notifies watchers, and returns the completed ranges. */
export async function writeBatch(
  { database, channel }: HubDatabase,
  { session, text }: { readonly session: string; readonly text: string },
  sweeper: Sweeper,
  codec: LineCodec,
): Promise<void> {
  const lines = text.split("\n").filter((line) => line !== "");
  const deltas = lines.map((line) => JSON.parse(line) as Delta);
  const announced = deltas.flatMap(({ body }, index) => (body.type === "recorded" ? [index] : []));
  const positions = await database.write([`live ${session}`], function* () {
    yield* insertDeltas(deltas, lines.map(codec.encode), Date.now());
    yield* notifyChannel(channel, hashTopic(session));
    // No other process writes to the session at the same time: the newest positions belong to this batch.
    return announced.length === 0 ? [] : yield* readNewestPositions(session, deltas.length);
  });
  for (const index of announced) {
    const { loopId, body } = deltas[index]!;
    const before = positions[index];
    if (body.type !== "recorded" || before === undefined) continue;
    sweeper.addCompleted({ session, loopId, before, completed: body.completed ?? [] });
  }
}
