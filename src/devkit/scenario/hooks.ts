import type { HookContexts } from "../../hooks/hook-point.ts";
import type { HookFunctions } from "../../hooks/registry.ts";
import { HOOK_POINTS, type HookPoint } from "../../schema/hooks.ts";
import { timelessValue } from "./events.ts";
import type { ScenarioAnswer, ScenarioHook } from "./form/hook.ts";
import { hookMessage } from "./hook-lines.ts";
import type { HookCall } from "./played.ts";

/** What a hook is told, whatever the point. */
export type HookContext = HookContexts[HookPoint];

type Asked = {
  readonly hook: HookPoint;
  readonly name: string;
  readonly behind: number;
  readonly context: HookContext;
  readonly answer: ScenarioAnswer;
};

type World = {
  /** Events of the session that are written by now. */
  readonly written: () => number;
  /** Told how long a hook that hangs is waited for. */
  readonly hangs?: (ms: number) => void;
};

/** Answers for the hooks of one scenario, and remembers how they were asked. */
export class HookScript {
  readonly #hooks: readonly ScenarioHook[];
  readonly #world: World;
  readonly #asked: Asked[] = [];

  constructor(hooks: readonly ScenarioHook[], world: World) {
    this.#hooks = hooks;
    this.#world = world;
  }

  /** What the hook of this name answers now: a value, an error that it throws, or a promise that waits to be left. */
  ask(name: string, hook: HookPoint, context: HookContext, signal: AbortSignal): unknown {
    const { answers = [], timeoutMs = 0 } = this.#hooks.find((one) => one.name === name) ?? {};
    const nth = this.#asked.filter((one) => one.name === name).length;
    const answer = answers[Math.min(nth, answers.length - 1)] ?? "yes";
    this.#asked.push({ hook, name, behind: this.#world.written(), context, answer });
    if (answer !== "hangs") return given(answer);
    this.#world.hangs?.(timeoutMs);
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(true), { once: true }));
  }

  /** @param loopIds - In order; a loop is known by its number. */
  calls(loopIds: readonly string[]): readonly HookCall[] {
    return this.#asked.map(({ hook, name, behind, context, answer }) => ({
      hook,
      name,
      behind,
      ...fieldsOf(context, loopIds),
      answer,
    }));
  }
}

/** A hook as a worker holds it: it listens everywhere, and is asked where a definition names it. */
export function hookOf(
  ask: (point: HookPoint, context: HookContext, signal: AbortSignal) => unknown,
): HookFunctions {
  return Object.fromEntries(
    HOOK_POINTS.map((point) => [
      point,
      (context: HookContext, signal: AbortSignal) => ask(point, context, signal),
    ]),
  );
}

function given(answer: Exclude<ScenarioAnswer, "hangs">): unknown {
  if (answer === "yes") return true;
  if (answer === "no") return false;
  if (answer === "goOn") return { type: "go-on" };
  if (answer.throws !== undefined) throw new Error(answer.throws);
  if (answer.no !== undefined) return { type: "no", reason: answer.no };
  if (answer.end !== undefined) return { type: "end", text: answer.end };
  if (answer.inject !== undefined) return { type: "inject", text: answer.inject };
  return { type: "go-on", text: answer.goOn };
}

/** Without ids that differ from one run to the next; messages in a line each. */
function fieldsOf(context: HookContext, loopIds: readonly string[]): Record<string, unknown> {
  const { sessionId: _s, id: _i, ...told } = context;
  const { loopId, turnIndex, toolCallId, toolName, messages, ...rest } = told as Partial<
    HookContexts["before-tool"] & HookContexts["before-turn"]
  >;
  return {
    ...(loopId === undefined ? {} : { loop: loopIds.indexOf(loopId) }),
    ...(turnIndex === undefined ? {} : { turn: turnIndex }),
    ...(toolCallId === undefined ? {} : { call: toolCallId, tool: toolName }),
    ...(messages === undefined ? {} : { messages: messages.map(hookMessage) }),
    ...timelessValue(rest),
  };
}
