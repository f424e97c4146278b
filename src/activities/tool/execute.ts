import { CancelledFailure } from "@temporalio/activity";
import type { Mask } from "../../models/secret-masks.ts";
import { Deadline } from "../../platform/async/deadline.ts";
import { reachKillPoint } from "../../platform/kill-point.ts";
import type { Logger } from "../../platform/log.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { QuestionRecord } from "../../schema/loop-event.ts";
import type { ToolCallContent } from "../../schema/message.ts";
import type { SandboxSettings } from "../../schema/sandbox.ts";
import type { DeltaBody } from "../../store/stream/stream-hub.ts";
import type { Step } from "../../store/transcript/step.ts";
import { FencedError, StoreError } from "../../store/transcript/store-error.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { createRunCommand } from "../../tools/sandbox/run-command.ts";
import type { OpenSandbox } from "../../tools/sandbox/sandboxes.ts";
import type { ExecutableTool, SpawnedGroup } from "../../tools/tool.ts";
import { type CallMemo, type EarlierResult, ToolError } from "../../tools/tool-execution.ts";
import { NotBegunError } from "../step/failure.ts";
import { buildIdempotencyKey } from "../step/step.ts";
import { admitFiles } from "./admit-files.ts";
import { type CallSandbox, createCallSandbox } from "./call-sandbox.ts";
import {
  buildErrorExecution,
  buildTimeoutExecution,
  type Execution,
  executeCall,
  toErrorExecution,
} from "./execution.ts";
import { addLines } from "./repair-notes.ts";
import type { ShowUpdate } from "./tool-updates.ts";
import { createQuestionSession, readAnswers } from "./user-questions.ts";

export type ExecutionContext = {
  readonly step: Step;
  readonly workspace: string;
  readonly sandbox: SandboxSettings;
  /** Opens the sandbox of the call's processes. */
  readonly openSandbox: () => Promise<OpenSandbox>;
  readonly loopId?: string;
  /** Absent: the tool has no time limit. */
  readonly timeoutMs: number | undefined;
  readonly publish: (body: DeltaBody) => void;
  /** Wraps `publish` for the updates of the tool. */
  readonly updates: (show: ShowUpdate) => ShowUpdate;
  /** The transcript with the claim of this execution. Without a claim nothing can be added to the step. */
  readonly claim: Transcript | undefined;
  /** Called in the same turn of the event loop in which the tool begins. If it throws, the tool does not begin. */
  readonly begin: () => void;
  /** Reads the results of the tool's earlier calls. */
  readonly readEarlierResults: () => Promise<readonly EarlierResult[]>;
  /** The questions that the tool has asked the user before. */
  readonly questions: readonly QuestionRecord[];
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Masks what is logged about a tool. */
  readonly mask: Mask;
};

/** The most bytes of a tool's error in the log. */
const LOGGED_BYTES = 1000;

/**
 * Runs a tool under its time limit. Every error of the tool becomes a result (TOOL-05); only the end of the whole step
 * is passed on.
 */
export async function execute(
  tool: ExecutableTool,
  call: ToolCallContent,
  context: ExecutionContext,
): Promise<Execution> {
  const sandbox = createCallSandbox(context.openSandbox);
  return await executeCall(tool, call, async (value) => {
    const execution = await startTool(tool, call, value, { ...context, callSandbox: sandbox });
    const report = sandbox.getReport();
    if (report === undefined || execution.question !== undefined) return execution;
    return { ...addLines(execution, sandbox.describe(context.sandbox)), sandbox: report };
  });
}

async function startTool(
  tool: ExecutableTool,
  call: ToolCallContent,
  value: unknown,
  context: ExecutionContext & { readonly callSandbox: CallSandbox },
): Promise<Execution> {
  const { claim, callSandbox: sandbox } = context;
  const known = claim === undefined ? [] : await readAnswers(context.questions, claim);
  const limit = createTimeLimit(context.timeoutMs, context.signal);
  const people = createQuestionSession(known, context.mask, limit.leave);
  const show = (type: "tool-output" | "progress") => (text: string) =>
    context.publish({ type, toolCallId: call.id, toolName: tool.name, text });
  context.publish({ type: "tool-start", toolCallId: call.id, toolName: tool.name, text: "" });
  const onSpawned = async (group: SpawnedGroup) => {
    reachKillPoint("group:before");
    await limit.outside(async () => claim?.setProcessGroup(context.step, group));
    reachKillPoint("group:noted");
  };
  const run = async () => {
    reachKillPoint("tool:start");
    context.begin();
    const work = tool.execute(value, {
      toolCallId: call.id,
      toolName: tool.name,
      workspace: context.workspace,
      idempotencyKey: buildIdempotencyKey(context.step),
      loopId: context.loopId,
      signal: limit.signal,
      onUpdate: context.updates(show("tool-output")),
      onProgress: show("progress"),
      onSpawned,
      runCommand: createRunCommand({
        openSandbox: sandbox.open,
        workspace: context.workspace,
        idempotencyKey: buildIdempotencyKey(context.step),
        signal: limit.signal,
        onSpawned,
      }),
      sandbox: { ask: context.sandbox.network.ask ?? [], note: sandbox.note },
      memo: claim === undefined ? undefined : buildCallMemo(claim, context.step, limit.outside),
      earlierResults: () => limit.outside(context.readEarlierResults),
      askUser: claim === undefined ? undefined : people.ask,
    });
    return await Promise.race([work, limit.passed]);
  };
  try {
    const output = await run();
    reachKillPoint("tool:end");
    return { output: admitFiles(output), isError: false, outcomeUnknown: false };
  } catch (error) {
    if (context.signal.aborted) throw new CancelledFailure("CANCELLED");
    if (error instanceof NotBegunError) throw error;
    const asked = people.getQuestion();
    if (asked !== undefined)
      return "rejected" in asked
        ? buildErrorExecution(asked.rejected)
        : { ...EMPTY_EXECUTION, question: asked.question };
    if (limit.hasPassed()) return buildTimeoutExecution(context.timeoutMs);
    if (error instanceof ToolError || error instanceof StoreError || error instanceof FencedError) {
      return toErrorExecution(error);
    }
    const message = redactPreview(context.mask(String(error)), LOGGED_BYTES);
    context.log.warn({ tool: tool.name, error: message }, "A tool threw an error");
    return toErrorExecution(error);
  } finally {
    limit.clear();
  }
}

const EMPTY_EXECUTION: Execution = { output: { content: [] }, isError: false, outcomeUnknown: false };

function buildCallMemo(claim: Transcript, step: Step, outside: TimeLimit["outside"]): CallMemo {
  return {
    get: () => outside(() => claim.readNote(step)),
    set: (text) => outside(() => claim.setNote(step, text)),
  };
}

type TimeLimit = ReturnType<typeof createTimeLimit>;

/** Creates a signal that aborts with the step or at the time limit. A tool that ignores the signal is abandoned. */
function createTimeLimit(timeoutMs: number | undefined, outer: AbortSignal) {
  const inner = new AbortController();
  const deadline = timeoutMs === undefined ? undefined : new Deadline(timeoutMs);
  let rejectPassed: (reason: Error) => void;
  const passing = new Promise<never>((_, reject) => {
    rejectPassed = reject;
  });
  passing.catch(() => undefined);
  const abandon = (reason: Error, afterMs: number) => {
    inner.abort(reason);
    // A tool that ends its processes on abort gets the time to do so before it is abandoned.
    setTimeout(() => rejectPassed(reason), afterMs).unref();
  };
  const onOuter = () => abandon(new Error("cancelled"), LEAVE_AFTER_MS);
  if (outer.aborted) onOuter();
  else outer.addEventListener("abort", onOuter, { once: true });
  deadline?.signal.addEventListener("abort", () => abandon(new Error("timed out"), ABANDON_AFTER_MS));
  let waits = 0;
  return {
    /** Runs a wait for the store, which does not count as the tool's own time. */
    outside: async <T>(wait: () => Promise<T>): Promise<T> => {
      waits += 1;
      deadline?.pause();
      try {
        return await wait();
      } finally {
        waits -= 1;
        if (waits === 0) deadline?.resume();
      }
    },
    signal: inner.signal,
    passed: passing,
    /** Ends the tool before its time limit. */
    leave: onOuter,
    hasPassed: () => deadline?.hasPassed === true,
    clear: () => {
      deadline?.dispose();
      outer.removeEventListener("abort", onOuter);
    },
  };
}

/** How long a tool may take to end after its time limit. */
const ABANDON_AFTER_MS = 5000;

/**
 * The same after a stop: longer than bash needs to kill processes that ignore its signals, shorter than a caller waits
 * for a part.
 */
const LEAVE_AFTER_MS = 3500;
