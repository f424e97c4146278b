import type { AgentEvent } from "../../schema/agent-event.ts";
import { isOlder } from "../../store/stream/attempts.ts";
import type { Delta, DeltaBody } from "../../store/stream/stream.ts";

type Output = Extract<DeltaBody, { readonly type: "tool-output" | "progress" }>;
type Start = Extract<DeltaBody, { readonly type: "tool-start" }>;

/** What the calls of a loop's turn show while they are at work. */
export class LiveCalls {
  #turn = 0;
  /** The record of the loop is not read: nothing says when a call starts. */
  #showsAll = false;
  readonly #atWork = new Set<string>();
  /** Output of calls whose start is not recorded yet, as `turn/id`. */
  readonly #early = new Map<string, AgentEvent[]>();
  /** The execution that each call, as `turn/id`, has shown something of. */
  readonly #shown = new Map<string, Delta>();

  turn(turn: number): void {
    this.#turn = turn;
    this.#showsAll = false;
    this.#atWork.clear();
    for (const kept of [this.#early, this.#shown])
      for (const key of kept.keys()) if (!key.startsWith(`${turn}/`)) kept.delete(key);
  }

  show(): void {
    this.#showsAll = true;
  }

  /** @returns What the call has shown before its start was recorded. */
  start(toolCallId: string): readonly AgentEvent[] {
    const key = `${this.#turn}/${toolCallId}`;
    const early = this.#early.get(key) ?? [];
    this.#early.delete(key);
    this.#atWork.add(toolCallId);
    return early;
  }

  end(toolCallId: string): void {
    this.#atWork.delete(toolCallId);
    this.#shown.delete(`${this.#turn}/${toolCallId}`);
  }

  output(delta: Delta, body: Output): readonly AgentEvent[] {
    this.#shown.set(`${delta.turn}/${body.toolCallId}`, delta);
    return this.#tell(delta.turn, outputOf(delta.loopId, body), body.toolCallId);
  }

  /** A call that has shown something is run again. */
  again(delta: Delta, { toolCallId, toolName }: Start): readonly AgentEvent[] {
    const before = this.#shown.get(`${delta.turn}/${toolCallId}`);
    const isAgain = before !== undefined && isSameStep(before, delta) && isOlder(before, delta);
    if (!isAgain) return [];
    this.#shown.set(`${delta.turn}/${toolCallId}`, delta);
    const text = "(run again: what was shown of this call is void)";
    const event: AgentEvent = { type: "ProgressMessage", loopId: delta.loopId, toolCallId, toolName, text };
    return this.#tell(delta.turn, event, toolCallId);
  }

  #tell(turn: number, event: AgentEvent, toolCallId: string): readonly AgentEvent[] {
    if (this.#showsAll || (turn === this.#turn && this.#atWork.has(toolCallId))) return [event];
    const key = `${turn}/${toolCallId}`;
    const early = this.#early.get(key) ?? [];
    const joined = joinedWith(early.at(-1), event);
    this.#early.set(key, joined === undefined ? [...early, event] : [...early.slice(0, -1), joined]);
    return [];
  }
}

function isSameStep(one: Delta, other: Delta): boolean {
  return one.run === other.run && one.command === other.command && one.call === other.call;
}

function outputOf(loopId: string, body: Output): AgentEvent {
  const { toolCallId, toolName, text } = body;
  if (body.type === "progress") return { type: "ProgressMessage", loopId, toolCallId, toolName, text };
  return { type: "ToolExecutionUpdate", loopId, toolCallId, toolName, partialResult: textResult(text) };
}

function textResult(text: string) {
  return { content: [{ type: "text" as const, text }] };
}

/** What waits is one update, however many pieces it came in. */
function joinedWith(before: AgentEvent | undefined, event: AgentEvent): AgentEvent | undefined {
  if (before?.type !== "ToolExecutionUpdate" || event.type !== "ToolExecutionUpdate") return undefined;
  const [one] = before.partialResult.content;
  const [other] = event.partialResult.content;
  if (one?.type !== "text" || other?.type !== "text") return undefined;
  return { ...event, partialResult: textResult(one.text + other.text) };
}
