import type { AgentMessage } from "../../schema/message.ts";
import type { Entry, EventBody } from "../../schema/record.ts";

/** A message in a few words. */
export type Gist = {
  readonly role: AgentMessage["role"];
  readonly origin: Entry["origin"];
  readonly text: string;
  readonly calls?: readonly string[];
  readonly stopReason?: string;
  readonly errorMessage?: string;
  readonly toolName?: string;
  readonly isError?: boolean;
};

/**
 * A loop's event without what differs from one run to the next: no times, no ids of sessions, runs and loops. Loops
 * are counted from 0; `message` is what lies at the event's position.
 */
export type ScenarioEvent = { readonly loop: number; readonly type: EventBody["type"] } & {
  readonly [field: string]: unknown;
};

export type LoopTrace = { readonly loopId: string; readonly events: readonly EventBody[] };

/** @param entries - Of the branch that the loops were written to. */
export function scenarioEvents(loops: readonly LoopTrace[], entries: readonly Entry[]): ScenarioEvent[] {
  const numbers = new Map(loops.map(({ loopId }, number) => [loopId, number]));
  const gists = new Map(entries.map((entry) => [entry.position, gistOf(entry)]));
  return loops.flatMap(({ events }, loop) => events.map((body) => scenarioEvent(body, loop, numbers, gists)));
}

function scenarioEvent(
  body: EventBody,
  loop: number,
  numbers: ReadonlyMap<string, number>,
  gists: ReadonlyMap<number, Gist | undefined>,
): ScenarioEvent {
  switch (body.type) {
    case "AgentStart": {
      const { parentLoopId, kind, ...rest } = body;
      const parent = parentLoopId === undefined ? {} : { parentLoop: numbers.get(parentLoopId) };
      return { loop, ...rest, kind: kind.type, ...parent };
    }
    case "AgentEnd":
      return { loop, ...body, outcome: timelessValue(body.outcome) };
    case "MessageEnd":
      return { loop, ...body, message: gists.get(body.position) };
    default:
      return { loop, ...body };
  }
}

function gistOf({ message, origin }: Entry): Gist | undefined {
  if (message.role === "extension") return undefined;
  const text = timeless(
    message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
  );
  const gist = { role: message.role, origin, text };
  switch (message.role) {
    case "user":
      return gist;
    case "assistant":
      return {
        ...gist,
        calls: message.content.flatMap((part) => (part.type === "toolCall" ? [part.name] : [])),
        stopReason: message.stopReason,
        ...(message.errorMessage === undefined ? {} : { errorMessage: timeless(message.errorMessage) }),
      };
    case "toolResult":
      return { ...gist, toolName: message.toolName, isError: message.isError };
  }
}

/** What clocks, ports, vendors' request ids and other scenarios' tools leave in a text becomes `…`. */
export function timeless(text: string): string {
  return text
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "…")
    .replace(/127\.0\.0\.1:\d+/g, "…")
    .replace(/request id [\w-]+/g, "request id …")
    .replace(/Max duration reached \(\d+s/g, "Max duration reached (…s")
    .replace(/there are no tools|the tools are [^;"]*/g, "the tools are …");
}

export function timelessValue<Value>(value: Value): Value {
  return JSON.parse(timeless(JSON.stringify(value))) as Value;
}

/** Events as lines for people; the two events of a message that touch are one line. */
export function eventLines(events: readonly ScenarioEvent[]): string[] {
  const lines: string[] = [];
  for (let at = 0; at < events.length; at++) {
    const event = events[at] as ScenarioEvent;
    const following = events[at + 1];
    const pair =
      event.type === "MessageStart" &&
      following?.type === "MessageEnd" &&
      following.loop === event.loop &&
      following["position"] === event["position"];
    if (pair) at += 1;
    lines.push(pair ? eventLine(following).replace("MessageEnd", "Message") : eventLine(event));
  }
  return lines;
}

function eventLine(event: ScenarioEvent): string {
  const field = (name: string) => String(event[name]);
  switch (event.type) {
    case "AgentStart": {
      const parent = event["parentLoop"] === undefined ? "" : ` after loop ${field("parentLoop")}`;
      return `AgentStart ${field("kind")}${parent}`;
    }
    case "AgentEnd":
      return `AgentEnd ${outcomeLine(event["outcome"] as Record<string, unknown>)}`;
    case "TurnStart":
      return `TurnStart ${field("turn")} ${field("trigger")}`;
    case "TurnEnd":
      return `TurnEnd ${field("turn")} results ${field("results")}`;
    case "MessageStart":
      return `MessageStart ${field("position")}`;
    case "MessageEnd":
      return `MessageEnd ${field("position")} ${gistLine(event["message"] as Gist | undefined)}`;
    case "ToolExecutionStart":
      return `ToolExecutionStart ${field("toolName")} ${field("toolCallId")}`;
    case "ToolExecutionEnd":
      return `ToolExecutionEnd ${field("toolName")} ${field("toolCallId")} ${event["isError"] === true ? "error" : "ok"}`;
    default: {
      const { loop: _loop, type, ...rest } = event;
      return `${type} ${JSON.stringify(rest)}`;
    }
  }
}

export function outcomeLine(outcome: Record<string, unknown>): string {
  const { type, ...rest } = outcome;
  return [type, ...Object.values(rest)].map(String).join(" ");
}

function gistLine(gist: Gist | undefined): string {
  if (gist === undefined) return "(nothing)";
  switch (gist.role) {
    case "assistant": {
      if (gist.errorMessage !== undefined) return `${gist.stopReason}: ${gist.errorMessage}`;
      const names = (gist.calls ?? []).map((name) => ` +${name}`).join("");
      return `model: ${gist.text}${names}${gist.stopReason === "length" ? " (length)" : ""}`;
    }
    case "toolResult":
      return `${gist.toolName}${gist.isError ? "!" : ""}: ${gist.text}`;
    default:
      return `${gist.origin}: ${gist.text}`;
  }
}
