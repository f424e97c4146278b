import type { AgentEvent } from "../../schema/agent-event.ts";
import { isOlder } from "../../store/stream/attempt-filter.ts";
import type { Delta, DeltaBody } from "../../store/stream/stream-hub.ts";

type Output = Extract<DeltaBody, { readonly type: "tool-output" | "progress" }>;
type Start = Extract<DeltaBody, { readonly type: "tool-start" }>;

/** The live output of the running calls of a loop's turn. */
export class LiveCalls {
  #turn = 0;
  /** True if the loop's record is not read, so that nothing reports when a call starts. */
  #showsAll = false;
  readonly #running = new Set<string>();
  /** Output of calls whose start is not recorded yet, by `turn/id`. */
  readonly #early = new Map<string, AgentEvent[]>();
  /** The execution of each call, by `turn/id`, of which output was displayed. */
  readonly #displayed = new Map<string, Delta>();

  beginTurn(turn: number): void {
    this.#turn = turn;
    this.#showsAll = false;
    this.#running.clear();
    for (const running of [this.#early, this.#displayed])
      for (const key of running.keys()) if (!key.startsWith(`${turn}/`)) running.delete(key);
  }

  replay(): void {
    this.#showsAll = true;
  }

  /** @returns The output that the call produced before its start was recorded. */
  start(toolCallId: string): readonly AgentEvent[] {
    const key = `${this.#turn}/${toolCallId}`;
    const early = this.#early.get(key) ?? [];
    this.#early.delete(key);
    this.#running.add(toolCallId);
    return early;
  }

  end(toolCallId: string): void {
    this.#running.delete(toolCallId);
    this.#displayed.delete(`${this.#turn}/${toolCallId}`);
  }

  output(delta: Delta, body: Output): readonly AgentEvent[] {
    this.#displayed.set(`${delta.turn}/${body.toolCallId}`, delta);
    return this.#emit(delta.turn, toOutputEvent(delta.loopId, body), body.toolCallId);
  }

  /** Restarts a call of which output was already displayed. */
  restart(delta: Delta, { toolCallId, toolName }: Start): readonly AgentEvent[] {
    const before = this.#displayed.get(`${delta.turn}/${toolCallId}`);
    const isAgain = before !== undefined && isSameStep(before, delta) && isOlder(before, delta);
    if (!isAgain) return [];
    this.#displayed.set(`${delta.turn}/${toolCallId}`, delta);
    const text = "(retried: the output of this call so far is void)";
    const event: AgentEvent = { type: "ProgressMessage", loopId: delta.loopId, toolCallId, toolName, text };
    return this.#emit(delta.turn, event, toolCallId);
  }

  #emit(turn: number, event: AgentEvent, toolCallId: string): readonly AgentEvent[] {
    if (this.#showsAll || (turn === this.#turn && this.#running.has(toolCallId))) return [event];
    const key = `${turn}/${toolCallId}`;
    const early = this.#early.get(key) ?? [];
    const joined = joinEvents(early.at(-1), event);
    this.#early.set(key, joined === undefined ? [...early, event] : [...early.slice(0, -1), joined]);
    return [];
  }
}

function isSameStep(one: Delta, other: Delta): boolean {
  return one.run === other.run && one.command === other.command && one.call === other.call;
}

function toOutputEvent(loopId: string, body: Output): AgentEvent {
  const { toolCallId, toolName, text } = body;
  if (body.type === "progress") return { type: "ProgressMessage", loopId, toolCallId, toolName, text };
  return { type: "ToolExecutionUpdate", loopId, toolCallId, toolName, partialResult: createTextResult(text) };
}

function createTextResult(text: string) {
  return { content: [{ type: "text" as const, text }] };
}

/** Joins chunks: everything that waits becomes one update. */
function joinEvents(before: AgentEvent | undefined, event: AgentEvent): AgentEvent | undefined {
  if (before?.type !== "ToolExecutionUpdate" || event.type !== "ToolExecutionUpdate") return undefined;
  const [one] = before.partialResult.content;
  const [other] = event.partialResult.content;
  if (one?.type !== "text" || other?.type !== "text") return undefined;
  return { ...event, partialResult: createTextResult(one.text + other.text) };
}
