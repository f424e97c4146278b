import { CancelledFailure } from "@temporalio/activity";
import type { LoopClosing } from "../../store/transcript/loop.ts";
import type { NewMessage } from "../../store/transcript/session.ts";
import type { Step } from "../../store/transcript/step.ts";
import { type Asking, askHooks, askingId, type HookWorld, shortName, shortReason } from "./ask-hooks.ts";

// Hooks around a whole loop are asked inside of the activities that open and close it. Such an activity may run twice,
// so that they may be asked twice: with the same id.

/** All hooks of one point together: the activity that asks them ends after five minutes. */
const PATIENCE_MS = 240_000;

/** Of the step that asks, what hooks are told. */
export type AskingStep = Pick<Step, "session" | "run" | "number">;

export type Refused = { readonly rejected: string; readonly rejectedBy: string };

/** before-task, in front of a session's first loop, then before-loop (LOOP-02, CB-05, CB-07). */
export async function mayBegin(
  step: AskingStep,
  prompts: readonly NewMessage[],
  inbox: () => Promise<readonly NewMessage[]>,
  asking: Asking,
): Promise<Refused | undefined> {
  const { hooks } = asking.definition;
  const { transcript } = asking.dependencies;
  const { session: sessionId } = step;
  const limited = { ...asking, signal: AbortSignal.any([asking.signal, AbortSignal.timeout(PATIENCE_MS)]) };
  const id = (point: string) => askingId(step, point);
  if (isUsed(hooks["before-task"]) && !(await hasBegun(sessionId, transcript))) {
    const { decision } = await askHooks("before-task", { sessionId, id: id("before-task") }, limited);
    if (decision.type === "no") return refused(decision, asking);
  }
  if (isUsed(hooks["before-loop"])) {
    const messages = [...(await inbox()), ...prompts].map(({ text, atMs }) => ({
      role: "user" as const,
      content: [{ type: "text" as const, text }],
      timestamp: atMs,
    }));
    const context = { sessionId, id: id("before-loop"), turnIndex: 0, messages };
    const { decision } = await askHooks("before-loop", context, limited);
    if (decision.type === "no") return refused(decision, asking);
  }
  return undefined;
}

function isUsed(uses: readonly unknown[] | undefined): boolean {
  return uses !== undefined && uses.length > 0;
}

/** A session that was refused has not begun: it is asked about again. */
async function hasBegun(session: string, transcript: HookWorld["transcript"]): Promise<boolean> {
  const loops = await transcript.loops(session);
  return loops.some(({ outcome }) => outcome?.type !== "rejected" || outcome.by === undefined);
}

function refused({ hook, reason }: { hook: string; reason: string }, { signal }: Asking): Refused {
  if (signal.aborted) throw new CancelledFailure("CANCELLED");
  return { rejected: shortReason(reason), rejectedBy: shortName(hook) };
}

/** after-loop, when all of the loop is written. */
export async function tellLoopEnd(
  { step, loopId, usage }: { readonly step: AskingStep } & Pick<LoopClosing, "loopId" | "usage">,
  { branch, from, to }: { readonly branch: string; readonly from: number; readonly to: number },
  asking: Asking,
): Promise<void> {
  const { session: sessionId } = step;
  const entries = await asking.dependencies.transcript.entries(sessionId, branch, from, to);
  const messages = entries.map(({ message }) => message);
  const signal = AbortSignal.any([asking.signal, AbortSignal.timeout(PATIENCE_MS)]);
  const context = { sessionId, id: askingId(step, "after-loop"), loopId, messages, usage };
  await askHooks("after-loop", context, { ...asking, signal });
}
