import {
  buildTimeoutExecution,
  type Execution,
  executeCall,
  toErrorExecution,
} from "../../../activities/tool/execution.ts";
import { buildUnknownOutcome } from "../../../activities/tool/lost-execution.ts";
import { buildToolResult, findCall } from "../../../activities/tool/tool-result.ts";
import { answerViewCall, type ViewAnswer } from "../../../activities/tool/view-call.ts";
import type { CallToolCommand } from "../../../core/machine/state/activity-command.ts";
import { createMask } from "../../../models/secret-masks.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { ToolCallContent } from "../../../schema/message.ts";
import type { Tool, ViewTool } from "../../../tools/tool.ts";
import { buildOutput } from "../scenario-tool.ts";
import type { Deed } from "../schema.ts";
import type { Happening } from "./machine.ts";
import type { Made } from "./results.ts";
import type { Stage } from "./stage.ts";

/** A call that has an immediate result, or that must run. */
type Begun = { readonly result: ViewAnswer } | { readonly run: (deed: Deed) => Promise<Execution> };

/**
 * Performs a whole call as its activity does; `deed` is the tool's effect, if it runs.
 *
 * @throws Interrupted - If its worker dies during the call (`stage.results.dies`).
 * @testonly
 */
export async function performCall(
  stage: Stage,
  command: CallToolCommand,
  deed: Deed = { gives: "ok" },
): Promise<Happening> {
  return await stage.results.once(command, async (branch) => {
    const begun = await beginCall(stage, { ...command, branch });
    return buildCallEvent(stage, command, "run" in begun ? await begun.run(deed) : begun.result, branch);
  });
}

export async function beginCall(stage: Stage, command: CallToolCommand): Promise<Begun> {
  const { tools, transcript, notes, results } = stage;
  const {
    branch,
    answer,
    call: index,
    changedArguments: changed,
    toolName,
    toolCallId,
    generation,
  } = command;
  const tool = tools.get(toolName);
  const call = findCall(transcript.getMessage(branch, answer), index, changed);
  if (tool === undefined || call === undefined)
    throw new Error(`The tool or call ${toolName} does not exist`);
  if (tool.kind === "view") return { result: ofView(stage, tool, call, command) };
  if (generation > 0 && tool.replay === "unsafe" && results.wasClaimed(command)) {
    return { result: unknown(stage) };
  }
  const found = await readArguments(tool, call);
  if ("misfit" in found) return { result: found.misfit };
  notes.ran.push({ call: toolCallId, tool: toolName, arguments: found.value });
  return { run: (deed) => executeCall(tool, call, () => buildResult(deed, command.timeoutMs)) };
}

/** Builds the stored result of an ended call. */
export function buildCallEvent(
  { transcript, machine }: Stage,
  { answer, call: index, position, loopId, turn, changedArguments: changed }: CallToolCommand,
  { viewRequest, ...execution }: ViewAnswer,
  branch: string,
): Made {
  const call = findCall(transcript.getMessage(branch, answer), index, changed);
  if (call === undefined) throw new Error(`Position ${answer} has no call ${index}`);
  const { message, digest } = buildToolResult(call, execution, {
    turnId: { loopId, turnIndex: turn },
    mask: createMask([]),
    atMs: machine.nowMs,
  });
  return {
    happening: {
      type: "tool-finished",
      call: index,
      digest: { ...digest, ...omitUndefined({ viewRequest }) },
    },
    entry: { position, origin: "tool", message },
  };
}

function ofView(
  { transcript }: Stage,
  tool: ViewTool,
  call: ToolCallContent,
  { branch, answer, call: index, view }: CallToolCommand,
): ViewAnswer {
  const written = findCall(transcript.getMessage(branch, answer), index);
  if (view === undefined || written === undefined) throw new Error(`${tool.name} came without a view`);
  const entries = transcript.listEntries(branch).slice(0, answer);
  return answerViewCall({ tool, call, original: written, answer, toolView: view, entries });
}

/** Builds the unknown outcome as the next worker does: scenarios' tools leave no processes running. */
function unknown({ machine }: Stage): Execution {
  const lost = { generation: 0, process: "", startedAtMs: machine.nowMs };
  return buildUnknownOutcome(lost, true, "nothing was running any more", []);
}

/** Returns the tool's arguments, or the error for the model. */
async function readArguments(
  tool: Tool,
  call: ToolCallContent,
): Promise<{ readonly value: unknown } | { readonly misfit: Execution }> {
  let found: { value: unknown } | undefined;
  const execution = await executeCall(tool, call, (value) => {
    found = { value };
    return toErrorExecution("");
  });
  return found ?? { misfit: execution };
}

function buildResult(deed: Deed, timeoutMs: number | undefined): Execution {
  if (deed.hangs === true) return buildTimeoutExecution(timeoutMs);
  if (deed.gives === undefined) return toErrorExecution(new Error(deed.fails ?? deed.throws));
  return {
    output: buildOutput(deed.gives, deed),
    isError: false,
    outcomeUnknown: false,
  };
}
