import {
  buildTimeoutExecution,
  type Execution,
  executeCall,
  toErrorExecution,
} from "../../../activities/tool/execution.ts";
import { buildUnknownOutcome } from "../../../activities/tool/lost-execution.ts";
import { buildToolResult, findCall } from "../../../activities/tool/tool-result.ts";
import { answerViewCall, type ViewAnswer } from "../../../activities/tool/view-call.ts";
import type { CallToolCommand } from "../../../core/machine/state/command.ts";
import { createMask } from "../../../models/secret-masks.ts";
import type { ToolCallContent } from "../../../schema/message.ts";
import type { Tool, ViewTool } from "../../../tools/tool.ts";
import type { Deed } from "../schema.ts";
import type { Happening } from "./machine.ts";
import type { Made } from "./results.ts";
import type { Stage } from "./stage.ts";

/** A call has its result without being run, or is run. */
type Begun = { readonly result: ViewAnswer } | { readonly run: (deed: Deed) => Promise<Execution> };

/**
 * Does a whole call as its activity does; `deed` is what the tool does, if it is run.
 *
 * @throws Interrupted - Where its worker dies over it (`stage.results.dies`).
 * @testonly
 */
export async function performCall(
  stage: Stage,
  command: CallToolCommand,
  deed: Deed = { gives: "ok" },
): Promise<Happening> {
  return await stage.results.once(command, async (branch) => {
    const begun = await beginCall(stage, { ...command, branch });
    return madeOf(stage, command, "run" in begun ? await begun.run(deed) : begun.result, branch);
  });
}

export async function beginCall(stage: Stage, command: CallToolCommand): Promise<Begun> {
  const { tools, transcript, notes, results } = stage;
  const { branch, answer, call: index, arguments: changed, toolName, toolCallId, generation } = command;
  const tool = tools.get(toolName);
  const call = findCall(transcript.getMessage(branch, answer), index, changed);
  if (tool === undefined || call === undefined) throw new Error(`There is no tool or call ${toolName}`);
  if (tool.kind === "view") return { result: ofView(stage, tool, call, command) };
  if (generation > 0 && tool.replay === "unsafe" && results.wasClaimed(command)) {
    return { result: unknown(stage) };
  }
  const found = await argumentsOf(tool, call);
  if ("misfit" in found) return { result: found.misfit };
  notes.ran.push({ call: toolCallId, tool: toolName, arguments: found.value });
  return { run: (deed) => executeCall(tool, call, () => done(deed, command.timeoutMs)) };
}

/** What is stored of a call that is over. */
export function madeOf(
  { transcript, machine }: Stage,
  { answer, call: index, position, loopId, turn, arguments: changed }: CallToolCommand,
  { request, ...execution }: ViewAnswer,
  branch: string,
): Made {
  const call = findCall(transcript.getMessage(branch, answer), index, changed);
  if (call === undefined) throw new Error(`There is no call ${index} at position ${answer}`);
  const { message, digest } = buildToolResult(call, execution, {
    turnId: { loopId, turnIndex: turn },
    mask: createMask([]),
    atMs: machine.nowMs,
  });
  return {
    happening: {
      type: "tool-finished",
      call: index,
      digest: { ...digest, ...(request === undefined ? {} : { request }) },
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
  return answerViewCall({ tool, call, written, answer, atHand: view, entries });
}

/** As the worker that comes next finds it: scenarios' tools leave nothing running. */
function unknown({ machine }: Stage): Execution {
  const lost = { generation: 0, process: "", startedAtMs: machine.nowMs };
  return buildUnknownOutcome(lost, true, "nothing was running any more", []);
}

/** What the tool is run with, or what the model is told instead. */
async function argumentsOf(
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

function done(deed: Deed, timeoutMs: number | undefined): Execution {
  if (deed.hangs === true) return buildTimeoutExecution(timeoutMs);
  if (deed.gives === undefined) return toErrorExecution(new Error(deed.fails ?? deed.throws));
  return {
    output: { content: [{ type: "text", text: deed.gives }] },
    isError: false,
    outcomeUnknown: false,
  };
}
