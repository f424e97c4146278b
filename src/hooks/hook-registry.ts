import type { ProcessStarter } from "../platform/process/process-starter.ts";
import {
  HOOK_POINTS,
  type HookPoint,
  type HookUse,
  isQuestion,
  isUpdatePoint,
  type UpdatePoint,
} from "../schema/hooks.ts";
import { type HookAnswer, toVerdict } from "./answer.ts";
import type { HookContexts } from "./hook-point.ts";
import { runScript } from "./script.ts";
import { askWithTimeout, checkTimeout, DEFAULT_HOOK_TIMEOUT_MS } from "./time-limit.ts";
import { buildFailure, getErrorMessage, type HookFailure, type HookVerdict } from "./verdict.ts";

// Invariants
//   H1. `run` and `runUpdate` do not throw because of a hook, and `run` does not wait longer than its time limit.
//   H2. Before something happens, hooks run in the given order; the first that is not a yes ends the run.
//   H3. After something happened, all hooks run, in the given order, whatever one of them does.
//   H4. A hook that fails counts as a "no" before and as nothing after, unless it or its use specifies otherwise. After
//       an answer (`on-text`) it lets the loop end: a broken hook must not keep an agent running.

/** The signal aborts when nothing waits for the answer any more. */
export type HookFunction<P extends HookPoint> = (
  context: HookContexts[P],
  signal: AbortSignal,
) => P extends UpdatePoint ? HookAnswer<P> : HookAnswer<P> | Promise<HookAnswer<P>>;

/** The functions of a hook by point; a hook may have several points. */
export type HookFunctions = { readonly [P in HookPoint]?: HookFunction<P> };

/** The limits of a hook. */
export type HookPolicy = {
  /** How long one call of the hook may take, in milliseconds; 10,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** What a failure of this hook means; by default `stop` before something happens and `continue` after it. */
  readonly onFailure?: "stop" | "continue" | undefined;
};

type HookReport = {
  /** The name, or the command. */
  readonly hook: string;
  readonly verdict: HookVerdict;
  readonly durationMs: number;
};

export type HookDecision =
  /** `notices`: the texts that hooks have injected, in order; absent for none. `textOnly`: the answer must have no calls. */
  | { readonly type: "yes"; readonly notices?: readonly string[]; readonly textOnly?: true }
  | { readonly type: "no"; readonly hook: string; readonly reason: string }
  | { readonly type: "end"; readonly hook: string; readonly text: string }
  | { readonly type: "continue"; readonly hook: string; readonly text?: string };

export type HookRun = {
  readonly decision: HookDecision;
  /** One report for each hook that ran, in order. */
  readonly reports: readonly HookReport[];
};

export type HookRunOptions = {
  readonly signal: AbortSignal;
  /** The folder where commands run. Absolute. */
  readonly workspace: string;
  /** Starts commands, in a sandbox or not. */
  readonly start: ProcessStarter;
  /** The limit for hooks without a limit of their own. */
  readonly timeoutMs?: number | undefined;
  /** Names of the worker's variables that commands may see. */
  readonly allowEnvironment?: readonly string[] | undefined;
  /** Masks the output of commands. */
  readonly mask?: ((text: string) => string) | undefined;
};

type RegisteredHook = { readonly functions: HookFunctions; readonly policy: HookPolicy };
type HookUseObject = Exclude<HookUse, string>;

/** The hooks of an application, by the names that definitions use (CB-01, CB-11). */
export class HookRegistry {
  readonly #hooks = new Map<string, RegisteredHook>();

  /** Registers a hook. Throws when the name is empty or taken, or when there is no function to register. */
  register(name: string, functions: HookFunctions, policy: HookPolicy = {}): this {
    if (name.trim() === "") throw new TypeError("A hook must have a name");
    if (this.#hooks.has(name)) throw new TypeError(`A hook "${name}" is already registered`);
    const points = Object.keys(functions);
    if (points.length === 0) throw new TypeError(`Hook "${name}" has no function for any point`);
    const unknown = points.find((point) => !HOOK_POINTS.some((known) => known === point));
    if (unknown !== undefined)
      throw new TypeError(`Hook "${name}" has a function for "${unknown}", which is not a hook point`);
    checkTimeout(policy.timeoutMs);
    this.#hooks.set(name, { functions, policy });
    return this;
  }

  get names(): readonly string[] {
    return [...this.#hooks.keys()].sort();
  }

  /** Returns the points of a hook, or `undefined` for an unregistered one. */
  getPoints(name: string): readonly HookPoint[] | undefined {
    const registered = this.#hooks.get(name);
    return registered && HOOK_POINTS.filter((point) => registered.functions[point] !== undefined);
  }

  /** Runs hooks. Throws only for an invalid time limit. */
  async run<P extends HookPoint>(
    hooks: readonly HookUse[],
    point: P,
    context: HookContexts[P],
    options: HookRunOptions,
  ): Promise<HookRun> {
    if (isUpdatePoint(point)) {
      return this.runUpdate(hooks, point, context as HookContexts[typeof point]);
    }
    const reports: HookReport[] = [];
    let decision: HookDecision = { type: "yes" };
    for (const use of hooks.map(toUse)) {
      const timeoutMs =
        use.timeoutMs ?? this.#getPolicy(use).timeoutMs ?? options.timeoutMs ?? DEFAULT_HOOK_TIMEOUT_MS;
      checkTimeout(timeoutMs);
      const begunAt = performance.now();
      const verdict = await this.#ask(use, point, context, { ...options, timeoutMs });
      reports.push({ hook: getName(use), verdict, durationMs: performance.now() - begunAt });
      decision = this.#decide(use, point, verdict, decision);
      if (decision.type !== "yes" && isQuestion(point)) break;
    }
    return { decision, reports };
  }

  /** Runs the hooks of a tool's output synchronously: nothing waits there, and a command cannot be used (CB-03). */
  runUpdate<P extends UpdatePoint>(hooks: readonly HookUse[], point: P, context: HookContexts[P]): HookRun {
    const reports: HookReport[] = [];
    let decision: HookDecision = { type: "yes" };
    for (const use of hooks.map(toUse)) {
      const begunAt = performance.now();
      const verdict = this.#askNow(use, point, context);
      reports.push({ hook: getName(use), verdict, durationMs: performance.now() - begunAt });
      decision = this.#decide(use, point, verdict, decision);
      if (decision.type !== "yes" && isQuestion(point)) break;
    }
    return { decision, reports };
  }

  async #ask<P extends HookPoint>(
    use: HookUseObject,
    point: P,
    context: HookContexts[P],
    options: HookRunOptions & { readonly timeoutMs: number },
  ): Promise<HookVerdict> {
    if ("command" in use) {
      const { start, workspace, signal, timeoutMs, allowEnvironment, mask } = options;
      return runScript({
        start,
        command: use.command,
        point,
        context,
        workspace,
        signal,
        timeoutMs,
        allowEnvironment,
        mask,
      });
    }
    const hook = this.#getFunction(use.name, point);
    if (typeof hook !== "function") return hook;
    const answer = await askWithTimeout(
      async (signal) => toVerdict(use.name, point, await hook(context, signal)),
      options,
    );
    return answer.type === "failed" ? answer : answer.value;
  }

  #askNow<P extends UpdatePoint>(use: HookUseObject, point: P, context: HookContexts[P]): HookVerdict {
    if ("command" in use) {
      return buildFailure(
        "not-runnable",
        `A command cannot run at ${point}: this point needs the answer at once`,
      );
    }
    const hook = this.#getFunction(use.name, point);
    if (typeof hook !== "function") return hook;
    try {
      const answer: unknown = hook(context, NEVER_ABORTED);
      if (!(answer instanceof Promise)) return toVerdict(use.name, point, answer);
      answer.catch(() => {});
      return buildFailure(
        "wrong-answer",
        `Hook "${use.name}" returned a promise at ${point}, which does not wait for it`,
      );
    } catch (error) {
      return buildFailure("threw", getErrorMessage(error));
    }
  }

  #getFunction<P extends HookPoint>(name: string, point: P): HookFunction<P> | HookVerdict {
    const registered = this.#hooks.get(name);
    if (registered === undefined) {
      const known = this.names.length === 0 ? "none is registered" : `registered: ${this.names.join(", ")}`;
      return buildFailure("not-found", `There is no hook "${name}" on this worker; ${known}`);
    }
    const hook = registered.functions[point];
    if (hook !== undefined) return hook as HookFunction<P>;
    const points = Object.keys(registered.functions).join(", ");
    return buildFailure("not-found", `Hook "${name}" does not listen at ${point}, only at ${points}`);
  }

  #decide(use: HookUseObject, point: HookPoint, verdict: HookVerdict, before: HookDecision): HookDecision {
    if (before.type !== "yes") return before;
    const hook = getName(use);
    switch (verdict.type) {
      case "yes":
        return before;
      case "inject":
        return { ...before, notices: [...(before.notices ?? []), verdict.text] };
      case "force-text":
        return {
          ...before,
          ...(verdict.text === undefined ? {} : { notices: [...(before.notices ?? []), verdict.text] }),
          textOnly: true,
        };
      case "end":
      case "continue":
        return { ...verdict, hook };
      case "no":
        if (point === "on-text") return { type: "continue", hook, text: verdict.reason };
        return isQuestion(point) ? { type: "no", hook, reason: verdict.reason } : before;
      case "failed":
        return this.#isStoppedBy(use, point, verdict)
          ? { type: "no", hook, reason: `Hook "${hook}" failed: ${verdict.message}` }
          : before;
    }
  }

  #isStoppedBy(use: HookUseObject, point: HookPoint, { fault: cause }: HookFailure): boolean {
    if (point === "on-text") return false;
    // After a cancellation nothing waits for a yes, so no policy turns the failure into one.
    if (cause === "cancelled" && isQuestion(point)) return true;
    const onFailure =
      use.onFailure ?? this.#getPolicy(use).onFailure ?? (isQuestion(point) ? "stop" : "continue");
    return onFailure === "stop";
  }

  #getPolicy(use: HookUseObject): HookPolicy {
    return "name" in use ? (this.#hooks.get(use.name)?.policy ?? {}) : {};
  }
}

const NEVER_ABORTED = new AbortController().signal;

function toUse(use: HookUse): HookUseObject {
  return typeof use === "string" ? { name: use } : use;
}

function getName(use: HookUseObject): string {
  if ("name" in use) return use.name;
  return typeof use.command === "string" ? use.command : use.command.join(" ");
}
