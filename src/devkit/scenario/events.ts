import type { EventBody, Permission } from "../../schema/loop-event.ts";
import type { AgentMessage } from "../../schema/message.ts";
import { joinText } from "../../schema/message-text.ts";
import type { Entry } from "../../schema/record.ts";

/** A short form of a message. */
export type MessageDigest = {
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
 * A loop's event without the values that differ between runs: times, and ids of sessions, runs and loops. Loops are
 * numbered from 0; `message` is the message at the event's position.
 */
export type ScenarioEvent = { readonly loop: number; readonly type: EventBody["type"] } & {
  readonly [field: string]: unknown;
};

/**
 * @property parts - The entries of the branches to which the loop was written: each revert switches to a new branch.
 */
export type LoopTrace = {
  readonly loopId: string;
  readonly events: readonly EventBody[];
  readonly parts: readonly (readonly Entry[])[];
};

export function buildScenarioEvents(loops: readonly LoopTrace[]): ScenarioEvent[] {
  const numbers = new Map(loops.map(({ loopId }, number) => [loopId, number]));
  return loops.flatMap(({ events, parts }, loop) => {
    const gists = parts.map(
      (entries) => new Map(entries.map((entry) => [entry.position, digestMessage(entry)])),
    );
    let part = 0;
    return events.map((body) => {
      if (body.type === "RevertApplied" && body.applied) part += 1;
      return buildScenarioEvent(body, loop, numbers, gists[Math.min(part, gists.length - 1)] ?? new Map());
    });
  });
}

function buildScenarioEvent(
  body: EventBody,
  loop: number,
  numbers: ReadonlyMap<string, number>,
  digests: ReadonlyMap<number, MessageDigest | undefined>,
): ScenarioEvent {
  switch (body.type) {
    case "AgentStart": {
      const { parentLoopId, kind, ...rest } = body;
      const parent = parentLoopId === undefined ? {} : { parentLoop: numbers.get(parentLoopId) };
      return { loop, ...rest, kind: kind.type, ...parent };
    }
    case "AgentEnd":
      return { loop, ...body, outcome: maskVariableValue(body.outcome) };
    case "MessageEnd":
      return { loop, ...body, message: digests.get(body.position) };
    case "ToolExecutionStart":
      return { loop, ...body, ...formatPermission(body.permission) };
    case "ToolExecutionEnd": {
      const { childLoopId: _, ...rest } = body;
      return { loop, ...rest, ...formatPermission(body.permission) };
    }
    case "ModelFallback":
      return { loop, ...body, from: body.from.map(({ message, ...model }) => ({ ...model, said: message })) };
    case "MessageRejected": {
      const { rejected, ...rest } = body;
      return { loop, ...rest, refused: rejected };
    }
    default:
      return { loop, ...body };
  }
}

/** Scenarios say "refused" for a call that the user denied. */
function formatPermission(permission: Permission | undefined): { permission?: object } {
  if (permission?.answer !== "denied") return {};
  return { permission: { ...permission, answer: "refused" } };
}

function digestMessage({ message, origin }: Entry): MessageDigest | undefined {
  if (message.role === "extension") return undefined;
  const text = maskVariableText(joinText(message.content));
  const gist = { role: message.role, origin, text };
  switch (message.role) {
    case "user":
      return gist;
    case "assistant":
      return {
        ...gist,
        calls: message.content.flatMap((part) => (part.type === "toolCall" ? [part.name] : [])),
        stopReason: message.stopReason,
        ...(message.errorMessage === undefined
          ? {}
          : { errorMessage: maskVariableText(message.errorMessage) }),
      };
    case "toolResult":
      return { ...gist, toolName: message.toolName, isError: message.isError };
  }
}

/** Replaces variable parts of a text with `…`: times, ports, vendors' request ids, and tools and filters of other scenarios. */
export function maskVariableText(text: string): string {
  return text
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "…")
    .replace(/127\.0\.0\.1:\d+/g, "…")
    .replace(/request id [\w-]+/g, "request id …")
    .replace(/\b([Ss]ession) scenario[\w-]*/g, "$1 …")
    .replace(/(no input filter [^;]*); it has .*/g, "$1; it has …")
    .replace(/Max duration reached \(\d+s/g, "Max duration reached (…s")
    .replace(/there are no tools|the tools are [^;"]*/g, "the tools are …");
}

export function maskVariableValue<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value), (_, one) =>
    typeof one === "string" ? maskVariableText(one) : one,
  ) as Value;
}
