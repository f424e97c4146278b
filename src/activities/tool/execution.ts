import type { ToolCallContent } from "../../schema/message.ts";
import type { SandboxReport } from "../../schema/sandbox.ts";
import type { UserQuestion } from "../../schema/user-question.ts";
import { FencedError, StoreError } from "../../store/transcript/store-error.ts";
import { describeNameRepair, repairArguments } from "../../tools/argument-repair/repair-call.ts";
import type { Tool } from "../../tools/tool.ts";
import { ToolError, type ToolFault, type ToolOutput } from "../../tools/tool-execution.ts";
import { addNotes } from "./repair-notes.ts";

/** The result of a call, in a form that the model can read. */
export type Execution = {
  readonly output: ToolOutput;
  readonly isError: boolean;
  readonly outcomeUnknown: boolean;
  /** Where its processes have run; absent if it started none. */
  readonly sandbox?: SandboxReport;
  /** The question to the user for which the execution ended; the call is retried with the answer. */
  readonly question?: UserQuestion;
};

/** The texts of failed calls (TOOL-04). */
const FAULT_TEXTS: Record<ToolFault, (message: string) => string> = {
  failed: (message) => message,
  "not-found": (message) => `Tool not found: ${message}`,
  "invalid-arguments": (message) => `Invalid arguments: ${message}`,
  cancelled: () => "Cancelled",
};

/** Runs a call with its arguments, repaired where that needs no guess. A call with invalid arguments does not run. */
export async function executeCall(
  tool: Tool,
  call: ToolCallContent,
  run: (value: unknown) => Promise<Execution> | Execution,
): Promise<Execution> {
  const recovered = repairArguments(call.arguments, tool);
  if ("message" in recovered) return buildErrorExecution(FAULT_TEXTS["invalid-arguments"](recovered.message));
  const execution = await run(recovered.value);
  return addNotes(execution, {
    ...recovered,
    notes: [...describeNameRepair(call.name, tool), ...recovered.notes],
  });
}

/** Builds what the model reads when a tool throws. A failure of the store is no result and is passed on. */
export function toErrorExecution(error: unknown): Execution {
  if (error instanceof StoreError || error instanceof FencedError) throw error;
  if (error instanceof ToolError) return buildErrorExecution(FAULT_TEXTS[error.fault](error.message));
  return buildErrorExecution(error instanceof Error ? error.message : String(error));
}

export function buildTimeoutExecution(timeoutMs: number | undefined): Execution {
  return buildErrorExecution(`The tool did not finish within ${timeoutMs} ms and was terminated`);
}

export function buildErrorExecution(text: string): Execution {
  return { output: { content: [{ type: "text", text }] }, isError: true, outcomeUnknown: false };
}
