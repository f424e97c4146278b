import { agentEvent, type EventPlace, positionsOf } from "../core/agent-event.ts";
import type { AgentEvent } from "../schema/agent-event.ts";
import type { LoopEvent } from "../schema/record.ts";
import type { LoopRecord } from "../transcript/loop.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { Link } from "./link.ts";
import { LiveEvents } from "./live-events.ts";
import { type WatchOptions, watchSession } from "./watch.ts";

type Known = { readonly record: LoopRecord; readonly place: EventPlace; readonly provider: string };

/** What the record says of loops, read once for each. */
export class AgentEvents {
  readonly #transcript: Transcript;
  readonly #session: string;
  readonly #loops = new Map<string, Known>();

  constructor(transcript: Transcript, session: string) {
    this.#transcript = transcript;
    this.#session = session;
  }

  /** A recorded event with the messages that it is about. */
  async whole(event: LoopEvent): Promise<AgentEvent> {
    const { record, place } = await this.#loop(event.loopId);
    const { from, to } = positionsOf(event.body);
    const entries = from === to ? [] : await this.#transcript.entries(this.#session, record.branch, from, to);
    return agentEvent(
      place,
      event,
      entries.map(({ message }) => message),
    );
  }

  /** Who answers in a loop; of one that is not recorded yet nothing is known. */
  async asked(loopId: string): Promise<{ readonly model: string; readonly provider: string }> {
    const known = this.#loops.get(loopId) ?? (await this.#find(loopId));
    return { model: known?.record.model ?? "unknown", provider: known?.provider ?? "unknown" };
  }

  async #loop(loopId: string): Promise<Known> {
    const known = this.#loops.get(loopId) ?? (await this.#find(loopId));
    if (known === undefined) throw new Error(`The record of the loop ${loopId} is gone`);
    // A reset moves a loop that runs to a branch of its own.
    return known.record.status === "running" ? ((await this.#find(loopId)) ?? known) : known;
  }

  async #find(loopId: string): Promise<Known | undefined> {
    const record = (await this.#transcript.loops(this.#session)).find((loop) => loop.loopId === loopId);
    if (record === undefined) return undefined;
    const known = this.#loops.get(loopId);
    const found = known === undefined ? await this.#describe(record) : { ...known, record };
    this.#loops.set(loopId, found);
    return found;
  }

  async #describe(record: LoopRecord): Promise<Known> {
    const definition = await this.#transcript.definition(record.definitionHash);
    const session = await this.#transcript.session(this.#session);
    const { configId, thinking, temperature } = definition ?? {};
    const place: EventPlace = {
      agentId: definition?.name ?? session?.agentName ?? "unknown",
      sessionId: this.#session,
      loopId: record.loopId,
      parentLoopId: record.parentLoopId,
      kind: record.kind,
      config: {
        definitionHash: record.definitionHash,
        model: record.model,
        ...(definition === undefined ? {} : { provider: definition.model.provider }),
        ...(configId === undefined ? {} : { configId }),
        ...(thinking === undefined ? {} : { thinking }),
        ...(temperature === undefined ? {} : { temperature }),
      },
    };
    return { record, place, provider: definition?.model.provider ?? "unknown" };
  }
}

/** What `watchSession` gives, as events that are whole by themselves, live output among them; ends when the run has ended. */
export async function* agentEvents(
  link: Link,
  session: string,
  options: WatchOptions = {},
): AsyncGenerator<AgentEvent, void, void> {
  const live = new LiveEvents();
  let events: AgentEvents | undefined;
  for await (const item of watchSession(link, session, options)) {
    if (events === undefined) {
      const transcript = await link.storage.existing();
      if (transcript === undefined) continue;
      events = new AgentEvents(transcript, session);
    }
    if (item.type === "group") yield item.event;
    else if (item.type === "event") yield* live.recorded(await events.whole(item.event));
    else yield* live.live(item.delta, await events.asked(item.delta.loopId));
  }
}
