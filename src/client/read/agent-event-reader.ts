import { buildAgentEvent, type EventContext, getPositionRange } from "../../conversation/agent-event.ts";
import { buildConfigSnapshot } from "../../conversation/config-snapshot.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentEvent } from "../../schema/agent-event.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { getAgentId } from "../runs/agent-id.ts";
import type { RecordedItem } from "./recorded-event-reader.ts";

type RecordedEvent = Extract<RecordedItem, { readonly type: "event" }>;
type LoopFacts = { readonly context: EventContext; readonly provider: string };

/** Completes recorded events with their messages. Reads the record of each loop once. */
export class AgentEventReader {
  readonly #open: () => Promise<Transcript | undefined>;
  readonly #session: string;
  readonly #loops = new Map<string, LoopFacts>();

  constructor(open: () => Promise<Transcript | undefined>, session: string) {
    this.#open = open;
    this.#session = session;
  }

  /** Returns a recorded event with the messages that it refers to. */
  async complete({ event, record, branch, message }: RecordedEvent): Promise<AgentEvent> {
    const { from, to } = getPositionRange(event.body);
    const isOne = to - from === 1 && message !== undefined;
    const messages = isOne ? [message] : await this.#readMessages(branch, from, to);
    const { context } = await this.#readLoop(record);
    if (event.body.type === "AgentEnd") this.#loops.delete(record.loopId);
    return buildAgentEvent(context, event, messages);
  }

  /** Returns the model that answers in a loop; it is unknown for a loop that is not recorded yet. */
  async readModel(
    record: LoopRecord | undefined,
  ): Promise<{ readonly model: string; readonly provider: string }> {
    if (record === undefined) return { model: "unknown", provider: "unknown" };
    return { model: record.model, provider: (await this.#readLoop(record)).provider };
  }

  async #readMessages(branch: string, from: number, to: number): Promise<readonly AgentMessage[]> {
    if (from === to) return [];
    const entries = (await (await this.#open())?.readEntries(this.#session, branch, from, to)) ?? [];
    return entries.map(({ message }) => message);
  }

  async #readLoop(record: LoopRecord): Promise<LoopFacts> {
    const facts = this.#loops.get(record.loopId) ?? (await this.#describe(record));
    this.#loops.set(record.loopId, facts);
    return facts;
  }

  async #describe(record: LoopRecord): Promise<LoopFacts> {
    const transcript = await this.#open();
    const definition = await transcript?.readDefinition(record.definitionHash);
    const session = await transcript?.readSession(this.#session);
    const agentName = definition?.name ?? session?.agentName;
    const context: EventContext = {
      agentId: session === undefined ? "unknown" : getAgentId(session),
      ...omitUndefined({ agentName }),
      sessionId: this.#session,
      loopId: record.loopId,
      parentLoopId: record.parentLoopId,
      kind: record.kind,
      config:
        definition === undefined
          ? { definitionHash: record.definitionHash, model: record.model }
          : { ...buildConfigSnapshot(definition, record.definitionHash), model: record.model },
    };
    return { context, provider: definition?.model.provider ?? "unknown" };
  }
}
