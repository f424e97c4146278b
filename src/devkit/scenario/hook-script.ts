import type { HookContexts } from "../../hooks/hook-point.ts";
import type { HookFunctions } from "../../hooks/hook-registry.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { HOOK_POINTS, type HookPoint } from "../../schema/hooks.ts";
import { maskVariableValue } from "./events.ts";
import type { ScenarioAnswer, ScenarioHook } from "./form/hook.ts";
import { formatMessage } from "./hook-lines.ts";
import type { HookCall } from "./play-result.ts";

/** The context of a hook at any point. */
export type AnyHookContext = HookContexts[HookPoint];

type RecordedHookCall = {
  readonly hook: HookPoint;
  readonly name: string;
  readonly eventsBefore: number;
  readonly context: AnyHookContext;
  readonly answer: ScenarioAnswer;
};

type HookScriptContext = {
  /** The number of the session's events that are written. */
  readonly countEvents: () => number;
  /** Called with the time limit of a hanging hook. */
  readonly onHang?: (ms: number) => void;
};

/** Answers for the hooks of one scenario, and records their calls. */
export class HookScript {
  readonly #hooks: readonly ScenarioHook[];
  readonly #context: HookScriptContext;
  readonly #recorded: RecordedHookCall[] = [];

  constructor(hooks: readonly ScenarioHook[], world: HookScriptContext) {
    this.#hooks = hooks;
    this.#context = world;
  }

  /** Returns the hook's next answer: a value, a thrown error, or a promise that waits until the call is aborted. */
  ask(name: string, hook: HookPoint, context: AnyHookContext, signal: AbortSignal): unknown {
    const { answers = [], timeoutMs = 0 } = this.#hooks.find((one) => one.name === name) ?? {};
    const nth = this.#recorded.filter((one) => one.name === name).length;
    const answer = answers[Math.min(nth, answers.length - 1)] ?? "yes";
    this.#recorded.push({ hook, name, eventsBefore: this.#context.countEvents(), context, answer });
    if (answer !== "hangs") return toHookAnswer(answer);
    this.#context.onHang?.(timeoutMs);
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(true), { once: true }));
  }

  /** @param loopIds - The loop ids in order; a loop is identified by its number. */
  listCalls(loopIds: readonly string[]): readonly HookCall[] {
    return this.#recorded.map(({ hook, name, eventsBefore, context, answer }) => ({
      hook,
      name,
      eventsBefore,
      ...getFields(context, loopIds),
      answer,
    }));
  }
}

/** Creates a worker's hook: it handles every point, and is called at the points for which a definition lists it. */
export function createHook(
  ask: (point: HookPoint, context: AnyHookContext, signal: AbortSignal) => unknown,
): HookFunctions {
  return Object.fromEntries(
    HOOK_POINTS.map((point) => [
      point,
      (context: AnyHookContext, signal: AbortSignal) => ask(point, context, signal),
    ]),
  );
}

function toHookAnswer(answer: Exclude<ScenarioAnswer, "hangs">): unknown {
  if (answer === "yes") return true;
  if (answer === "no") return false;
  if (answer === "goOn") return { type: "continue" };
  if (answer.throws !== undefined) throw new Error(answer.throws);
  if (answer.no !== undefined) return { type: "no", reason: answer.no };
  if (answer.end !== undefined) return { type: "end", text: answer.end };
  if (answer.inject !== undefined) return { type: "inject", text: answer.inject };
  if (answer.forceText !== undefined) return { type: "force-text", text: answer.forceText };
  return { type: "continue", text: answer.goOn };
}

/** Removes ids that differ between runs, and formats each message as a line. */
function getFields(context: AnyHookContext, loopIds: readonly string[]): Record<string, unknown> {
  const { sessionId: _s, id: _i, ...fields } = context;
  const { loopId, turnIndex, toolCallId, toolName, messages, ...others } = fields as Partial<
    HookContexts["before-tool"] & HookContexts["before-turn"]
  >;
  return {
    ...(loopId === undefined ? {} : { loop: loopIds.indexOf(loopId) }),
    ...omitUndefined({ turn: turnIndex }),
    ...(toolCallId === undefined ? {} : { call: toolCallId, tool: toolName }),
    ...omitUndefined({ messages: messages?.map(formatMessage) }),
    ...maskVariableValue(others),
  };
}
