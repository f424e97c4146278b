import { agentEvent, type EventPlace, positionsOf } from "../../conversation/agent-event.ts";
import { snapshotOf } from "../../conversation/config-snapshot.ts";
import type { AgentEvent } from "../../schema/agent-event.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { agentIdOf } from "../runs/agent-id.ts";
import type { News } from "./recorded.ts";

type RecordedEvent = Extract<News, { readonly type: "event" }>;
type Known = { readonly place: EventPlace; readonly provider: string };

/** Makes recorded events whole. What the record says of a loop is read once. */
export class AgentEvents {
  readonly #open: () => Promise<Transcript | undefined>;
  readonly #session: string;
  readonly #loops = new Map<string, Known>();

  constructor(open: () => Promise<Transcript | undefined>, session: string) {
    this.#open = open;
    this.#session = session;
  }

  /** A recorded event with the messages that it is about. */
  async whole({ event, record, message }: RecordedEvent): Promise<AgentEvent> {
    const { from, to } = positionsOf(event.body);
    const isOne = to - from === 1 && message !== undefined;
    const messages = isOne ? [message] : await this.#messages(record, from, to);
    const { place } = await this.#known(record);
    if (event.body.type === "AgentEnd") this.#loops.delete(record.loopId);
    return agentEvent(place, event, messages);
  }

  /** Who answers in a loop; of one that is not recorded yet nothing is known. */
  async asked(
    record: LoopRecord | undefined,
  ): Promise<{ readonly model: string; readonly provider: string }> {
    if (record === undefined) return { model: "unknown", provider: "unknown" };
    return { model: record.model, provider: (await this.#known(record)).provider };
  }

  async #messages({ branch }: LoopRecord, from: number, to: number): Promise<readonly AgentMessage[]> {
    if (from === to) return [];
    const entries = (await (await this.#open())?.entries(this.#session, branch, from, to)) ?? [];
    return entries.map(({ message }) => message);
  }

  async #known(record: LoopRecord): Promise<Known> {
    const known = this.#loops.get(record.loopId) ?? (await this.#describe(record));
    this.#loops.set(record.loopId, known);
    return known;
  }

  async #describe(record: LoopRecord): Promise<Known> {
    const transcript = await this.#open();
    const definition = await transcript?.definition(record.definitionHash);
    const session = await transcript?.session(this.#session);
    const agentName = definition?.name ?? session?.agentName;
    const place: EventPlace = {
      agentId: session === undefined ? "unknown" : agentIdOf(session),
      ...(agentName === undefined ? {} : { agentName }),
      sessionId: this.#session,
      loopId: record.loopId,
      parentLoopId: record.parentLoopId,
      kind: record.kind,
      config:
        definition === undefined
          ? { definitionHash: record.definitionHash, model: record.model }
          : { ...snapshotOf(definition, record.definitionHash), model: record.model },
    };
    return { place, provider: definition?.model.provider ?? "unknown" };
  }
}
