import { CancelledFailure, Context } from "@temporalio/activity";
import type { HookDigest, HookResult } from "../../core/machine/state/digest.ts";
import type { HookContexts } from "../../hooks/hook-point.ts";
import type { HookDecision, HookRun } from "../../hooks/hook-registry.ts";
import { limitSignal } from "../../platform/async/deadline.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { AgentMessage } from "../../schema/message.ts";
import { getMessageText } from "../../schema/message-text.ts";
import type { RunHookInput } from "../activity-types.ts";
import type { Dependencies } from "../dependencies.ts";
import { getToolsForParsing } from "../model/available-tools.ts";
import { parseCall } from "../model/read-call.ts";
import { toFailure } from "../step/failure.ts";
import { withHeartbeat } from "../step/heartbeat.ts";
import { getCurrentStep } from "../step/step.ts";
import { runStoredStep } from "../step/stored-step.ts";
import { askHooks, buildCallId, type HookCall, shortenName, shortenReason } from "./ask-hooks.ts";
import type { HookStep } from "./loop-hooks.ts";

const MAX_FAILURES = 8;

/** The longest time that a stop waits for a hook. */
const STOP_HOOK_TIMEOUT_MS = 10_000;

/** The most bytes of a text for the model. A function that returns more has failed; the output of a command is cut. */
const TEXT_BYTES = 2048;

/**
 * Runs the hooks of one point. A stored decision counts. A worker that takes over from a dead one runs the hooks once
 * more, with the same ids.
 */
export async function runHook(input: RunHookInput, dependencies: Dependencies): Promise<HookDigest> {
  const { definitions } = dependencies;
  const { cancellationSignal: signal } = Context.current();
  const step = getCurrentStep(input, dependencies.process);
  try {
    return await withHeartbeat(
      () => undefined,
      () =>
        runStoredStep(step, input, dependencies, async ({ branch }) => {
          const definition = await definitions.read(input.definitionHash);
          const limited = input.isBrief === true ? limitSignal(signal, STOP_HOOK_TIMEOUT_MS) : signal;
          const runs = await runAllHooks({ ...input, branch }, step, {
            definition,
            dependencies,
            signal: limited,
          });
          if (signal.aborted) throw new CancelledFailure("CANCELLED");
          return { result: buildHookDigest(runs), entries: [] };
        }),
    );
  } catch (error) {
    throw toFailure(error);
  }
}

/** Runs the hooks once for each call in question, in call order; otherwise once. */
export async function runAllHooks(
  input: Pick<RunHookInput, "question" | "loopId" | "turn" | "view" | "branch">,
  step: HookStep,
  asking: HookCall,
): Promise<readonly HookRun[]> {
  const { question, loopId, turn } = input;
  const { conversations } = asking.dependencies;
  const { session } = step;
  const id = (...parts: readonly number[]) => buildCallId(step, question.point, ...parts);
  const ofLoop = { sessionId: session, id: id(), loopId };
  const ofTurn = { ...ofLoop, turnIndex: turn };
  const one = async <P extends keyof HookContexts>(point: P, context: HookContexts[P]) => [
    await askHooks(point, context, asking),
  ];
  const messages = async () =>
    input.view === undefined
      ? []
      : await conversations.loadData(
          structuredClone(await conversations.readMessages(session, { ...input.view, branch: input.branch })),
        );
  const answer = async (position: number) => await conversations.readMessage(session, input.branch, position);
  switch (question.point) {
    case "after-task":
      return await one(question.point, { sessionId: session, id: id() });
    case "before-turn":
      return await one(question.point, { ...ofTurn, messages: await messages() });
    case "after-turn":
      return await one(question.point, { ...ofTurn, messages: await messages(), usage: question.usage });
    case "on-error":
      return await one(question.point, { ...ofTurn, error: getErrorText(await answer(question.position)) });
    case "on-text": {
      const message = await answer(question.position);
      return await one(question.point, {
        ...ofTurn,
        text: message?.role === "assistant" ? getMessageText(message) : "",
      });
    }
    case "before-compaction": {
      const { point, ...counts } = question;
      return await one(point, { ...ofLoop, ...counts });
    }
    case "after-compaction": {
      const { point, ...counts } = question;
      return await one(point, { ...ofLoop, ...counts });
    }
    case "before-tool": {
      const message = await answer(question.answer);
      const runs: HookRun[] = [];
      for (const { call, toolCallId, toolName } of question.calls) {
        const context = { ...ofTurn, id: id(call), toolCallId, toolName };
        const args = readArguments(message, call, asking);
        runs.push(await askHooks(question.point, { ...context, arguments: args }, asking));
      }
      return runs;
    }
    case "after-tool": {
      const runs: HookRun[] = [];
      for (const { call, toolCallId, toolName, isError = false } of question.calls) {
        runs.push(
          await askHooks(question.point, { ...ofTurn, id: id(call), toolCallId, toolName, isError }, asking),
        );
      }
      return runs;
    }
  }
}

function getErrorText(message: AgentMessage | undefined): string {
  return (message?.role === "assistant" ? message.errorMessage : undefined) ?? "Unknown error";
}

/**
 * Returns a copy of the arguments that the tool will get, repaired where they did not fit. A hook cannot change the
 * tool's own arguments.
 */
function readArguments(
  message: AgentMessage | undefined,
  index: number,
  { definition, dependencies }: HookCall,
): unknown {
  const calls =
    message?.role === "assistant" ? message.content.filter((part) => part.type === "toolCall") : [];
  const call = structuredClone(calls[index]);
  if (call === undefined) return undefined;
  return parseCall(call, getToolsForParsing(definition, dependencies.tools)).runs?.value ?? call.arguments;
}

/** Builds the digest for the machine. The store fills in the branch. */
export function buildHookDigest(runs: readonly HookRun[]): HookDigest {
  const failures = runs.flatMap(({ reports }) =>
    reports.flatMap(({ hook, verdict }) =>
      verdict.type === "failed" ? [{ hook: shortenName(hook), fault: verdict.fault }] : [],
    ),
  );
  return {
    branch: "",
    results: runs.map(({ decision }) => toHookResult(decision)),
    ...(failures.length === 0 ? {} : { failures: failures.slice(0, MAX_FAILURES) }),
  };
}

/** Returns the part of a decision that crosses history, bounded and without secrets. */
function toHookResult(decision: HookDecision): HookResult {
  switch (decision.type) {
    case "yes":
      return {
        type: "yes",
        ...(decision.notices && { notices: decision.notices.map(shortenText) }),
        ...omitUndefined({ textOnly: decision.textOnly }),
      };
    case "no":
      return { type: "no", hook: shortenName(decision.hook), reason: shortenReason(decision.reason) };
    case "end":
      return { type: "end", hook: shortenName(decision.hook), text: shortenReason(decision.text) };
    case "continue": {
      const text = decision.text === undefined ? {} : { text: shortenText(decision.text) };
      return { type: "continue", hook: shortenName(decision.hook), ...text };
    }
  }
}

function shortenText(text: string): string {
  return redactPreview(text, TEXT_BYTES - "...".length);
}
