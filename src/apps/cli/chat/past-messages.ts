import type { AgentEvent, Entry } from "../../../client/index.ts";
import { assertNever } from "../../../platform/text/assert-never.ts";

// The last messages of a resumed session, as the events that would have displayed them.

/**
 * Selects the last turns of the user: each begins with a prompt and has all that followed.
 *
 * @param currentLoop - The loop that is followed live, whose messages are displayed then.
 */
export function selectLastTurns(
  entries: readonly Entry[],
  turns: number,
  currentLoop: string | undefined,
): readonly Entry[] {
  const past = entries.filter(
    ({ message }) =>
      message.role === "extension" || currentLoop === undefined || message.turnId?.loopId !== currentLoop,
  );
  const prompts = past.flatMap(({ origin, message }, index) =>
    message.role === "user" && origin === "prompt" ? [index] : [],
  );
  if (turns <= 0) return [];
  const first = prompts.at(-turns) ?? 0;
  return past.slice(first);
}

/** Converts entries to events; calls are displayed with their results. */
export function toPastEvents(entries: readonly Entry[]): readonly AgentEvent[] {
  return entries.flatMap(({ message }): readonly AgentEvent[] => {
    switch (message.role) {
      case "extension":
        return [];
      case "user":
        return [{ type: "MessageEnd", loopId: PAST, message }];
      case "assistant": {
        const calls = message.content.flatMap((part) =>
          part.type === "toolCall"
            ? [
                {
                  type: "ToolExecutionStart" as const,
                  loopId: PAST,
                  toolCallId: part.id,
                  toolName: part.name,
                  args: part.arguments,
                },
              ]
            : [],
        );
        return [{ type: "MessageEnd", loopId: PAST, message }, ...calls];
      }
      case "toolResult": {
        const { toolCallId, toolName, content, isError } = message;
        return [
          { type: "ToolExecutionEnd", loopId: PAST, toolCallId, toolName, result: { content }, isError },
        ];
      }
      default:
        return assertNever(message);
    }
  });
}

/** The loops of past messages are not told apart. */
const PAST = "past";
