import { topicOf } from "../../postgres/channel.ts";
import type { LineCodec } from "../line-codec.ts";
import type { Delta } from "../stream.ts";
import type { Opened } from "./open-store.ts";
import { insert, newestPlaces, notify } from "./rows.ts";
import type { Sweeper } from "./sweeper.ts";

/** Writes lines of one session, says that there is news, and notes what is over. */
export async function writeBatch(
  { database, channel }: Opened,
  { session, text }: { readonly session: string; readonly text: string },
  sweeper: Sweeper,
  codec: LineCodec,
): Promise<void> {
  const lines = text.split("\n").filter((line) => line !== "");
  const deltas = lines.map((line) => JSON.parse(line) as Delta);
  const announced = deltas.flatMap(({ body }, index) => (body.type === "recorded" ? [index] : []));
  const places = await database.write([`live ${session}`], function* () {
    yield* insert(deltas, lines.map(codec.encode), Date.now());
    yield* notify(channel, topicOf(session));
    // Nobody else writes to the session meanwhile: the newest are ours.
    return announced.length === 0 ? [] : yield* newestPlaces(session, deltas.length);
  });
  for (const index of announced) {
    const { loopId, body } = deltas[index]!;
    const before = places[index];
    if (body.type !== "recorded" || before === undefined) continue;
    sweeper.over({ session, loopId, before, over: body.over ?? [] });
  }
}
