import type { ToolCallContent } from "../../schema/message.ts";
import type { PersonQuestion } from "../../schema/person.ts";
import { FencedError, StoreError } from "../../store/transcript/store-error.ts";
import { nameNotes, recoverArguments } from "../../tools/argument-repair/recover-call.ts";
import { type Tool, ToolError, type ToolFault, type ToolOutput } from "../../tools/tool.ts";
import { withNotes } from "./recovered.ts";

/** What became of a call, in a form that the model can read. */
export type Execution = {
  readonly output: ToolOutput;
  readonly isError: boolean;
  readonly outcomeUnknown: boolean;
  /** It has ended for this: a person is asked, and the call is made again. */
  readonly asks?: PersonQuestion;
};

/** TOOL-04. */
const SAID: Record<ToolFault, (message: string) => string> = {
  failed: (message) => message,
  "not-found": (message) => `Tool not found: ${message}`,
  "invalid-arguments": (message) => `Invalid arguments: ${message}`,
  cancelled: () => "Cancelled",
};

/** Runs what a call means: its arguments, mended where that needs no guess. Those that do not fit are not run. */
export async function executed(
  tool: Tool,
  call: ToolCallContent,
  run: (value: unknown) => Promise<Execution> | Execution,
): Promise<Execution> {
  const recovered = recoverArguments(call.arguments, tool);
  if ("message" in recovered) return told(SAID["invalid-arguments"](recovered.message));
  const execution = await run(recovered.value);
  return withNotes(execution, { ...recovered, notes: [...nameNotes(call.name, tool), ...recovered.notes] });
}

/**
 * What the model is told of a tool that threw. Of the store it is told nothing: what fails there is no result, and is
 * passed on.
 */
export function thrown(error: unknown): Execution {
  if (error instanceof StoreError || error instanceof FencedError) throw error;
  if (error instanceof ToolError) return told(SAID[error.fault](error.message));
  return told(error instanceof Error ? error.message : String(error));
}

export function timedOut(timeoutMs: number | undefined): Execution {
  return told(`The tool did not end within ${timeoutMs} ms and was ended`);
}

export function told(text: string): Execution {
  return { output: { content: [{ type: "text", text }] }, isError: true, outcomeUnknown: false };
}
