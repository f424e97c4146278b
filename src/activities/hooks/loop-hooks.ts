import { CancelledFailure } from "@temporalio/activity";
import { limitSignal } from "../../platform/async/deadline.ts";
import type { UserMessage } from "../../schema/message.ts";
import type { LoopClosing } from "../../store/transcript/loop.ts";
import type { NewMessage } from "../../store/transcript/session.ts";
import type { Step } from "../../store/transcript/step.ts";
import { readContent } from "../step/message-parts.ts";
import {
  askHooks,
  buildCallId,
  type HookCall,
  type HookDependencies,
  shortenName,
  shortenReason,
} from "./ask-hooks.ts";

// The activities that open and close a loop also run the hooks around the loop. Such an activity may run twice, and
// then its hooks run twice with the same id.

/** The limit for all hooks of one point together: the activity that runs them ends after five minutes. */
const HOOKS_TIMEOUT_MS = 240_000;

/** The fields of the step that hooks receive. */
export type HookStep = Pick<Step, "session" | "run" | "number">;

export type LoopRejection = { readonly rejected: string; readonly rejectedBy: string };

/** Runs before-task, ahead of a session's first loop, then before-loop (LOOP-02, CB-05, CB-07). */
export async function askBeforeLoopHooks(
  step: HookStep,
  prompts: readonly NewMessage[],
  inbox: () => Promise<readonly NewMessage[]>,
  asking: HookCall,
): Promise<LoopRejection | undefined> {
  const { hooks } = asking.definition;
  const { transcript } = asking.dependencies;
  const { session: sessionId } = step;
  const limited = { ...asking, signal: limitSignal(asking.signal, HOOKS_TIMEOUT_MS) };
  const id = (point: string) => buildCallId(step, point);
  if (hasHooks(hooks["before-task"]) && !(await hasBegun(sessionId, transcript))) {
    const { decision } = await askHooks("before-task", { sessionId, id: id("before-task") }, limited);
    if (decision.type === "no") return buildRejection(decision, asking);
  }
  if (hasHooks(hooks["before-loop"])) {
    const messages: UserMessage[] = [];
    for (const message of [...(await inbox()), ...prompts]) {
      const content = await readContent(message, asking.dependencies);
      messages.push({ role: "user", content: [...content], timestamp: message.atMs });
    }
    const context = { sessionId, id: id("before-loop"), turnIndex: 0, messages };
    const { decision } = await askHooks("before-loop", context, limited);
    if (decision.type === "no") return buildRejection(decision, asking);
  }
  return undefined;
}

function hasHooks(uses: readonly unknown[] | undefined): boolean {
  return uses !== undefined && uses.length > 0;
}

/** Returns whether the session has begun. A rejected session has not: its hooks run again. */
async function hasBegun(session: string, transcript: HookDependencies["transcript"]): Promise<boolean> {
  const loops = await transcript.readLoops(session);
  return loops.some(({ outcome }) => outcome?.type !== "rejected" || outcome.by === undefined);
}

function buildRejection(
  { hook, reason }: { hook: string; reason: string },
  { signal }: HookCall,
): LoopRejection {
  if (signal.aborted) throw new CancelledFailure("CANCELLED");
  return { rejected: shortenReason(reason), rejectedBy: shortenName(hook) };
}

/** Runs after-loop when the whole loop is written. */
export async function notifyLoopEnd(
  { step, loopId, usage }: { readonly step: HookStep } & Pick<LoopClosing, "loopId" | "usage">,
  { branch, from, to }: { readonly branch: string; readonly from: number; readonly to: number },
  asking: HookCall,
): Promise<void> {
  const { session: sessionId } = step;
  const entries = await asking.dependencies.transcript.readEntries(sessionId, branch, from, to);
  const messages = entries.map(({ message }) => message);
  const signal = limitSignal(asking.signal, HOOKS_TIMEOUT_MS);
  const context = { sessionId, id: buildCallId(step, "after-loop"), loopId, messages, usage };
  await askHooks("after-loop", context, { ...asking, signal });
}
