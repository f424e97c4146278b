import { askWithTimeout, checkTimeout, DEFAULT_HOOK_TIMEOUT_MS } from "./time-limit.ts";
import { buildFailure, type HookFailure } from "./verdict.ts";

// Filters check user messages before the model sees them (FILT-01 to FILT-05, PHI-08).

/** The result of one filter for a text. */
export type FilterResult =
  | { readonly type: "pass" }
  | {
      readonly type: "warn";
      /** What is added to the message for the model. */
      readonly warning: string;
    }
  | {
      readonly type: "reject";
      /** Why the message does not join the conversation. */
      readonly reason: string;
    };

/** The verdict of all filters together: `text` is one block, which is appended to the message. */
export type FilterVerdict =
  | { readonly type: "pass" }
  | { readonly type: "warn"; readonly text: string }
  | { readonly type: "reject"; readonly reason: string };

/** Combines results: the first rejection wins and drops all warnings; warnings are joined in order, a line each. */
export function combineResults(results: readonly FilterResult[]): FilterVerdict {
  const rejection = results.find((result) => result.type === "reject");
  if (rejection !== undefined) return rejection;
  const warnings = results.filter((result) => result.type === "warn");
  if (warnings.length === 0) return { type: "pass" };
  return { type: "warn", text: warnings.map(({ warning }) => `[Warning: ${warning}]`).join("\n") };
}

/** Checks the text of a user message before it joins the conversation. */
export type InputFilter = (text: string, signal: AbortSignal) => FilterResult | Promise<FilterResult>;

export type FilterPolicy = {
  readonly timeoutMs?: number | undefined;
  /** What a failure of this filter means; `reject` by default. */
  readonly onFailure?: "reject" | "pass" | undefined;
};

/** A registered name. The policy given here takes precedence over the policy at registration. */
export type FilterUse = string | ({ readonly name: string } & FilterPolicy);

type FilterReport = { readonly filter: string; readonly result: FilterResult | HookFailure };

export type FilterRun = {
  readonly verdict: FilterVerdict;
  /** One report for each filter that ran, in order. */
  readonly reports: readonly FilterReport[];
};

/** The filters of an application, by the names that definitions use. */
export class FilterRegistry {
  readonly #filters = new Map<string, { readonly filter: InputFilter; readonly policy: FilterPolicy }>();

  /** Registers a filter. Throws when the name is empty or taken. */
  register(name: string, filter: InputFilter, policy: FilterPolicy = {}): this {
    if (name.trim() === "") throw new TypeError("An input filter must have a name");
    if (this.#filters.has(name)) throw new TypeError(`An input filter "${name}" is already registered`);
    checkTimeout(policy.timeoutMs);
    this.#filters.set(name, { filter, policy });
    return this;
  }

  get names(): readonly string[] {
    return [...this.#filters.keys()].sort();
  }

  /** Runs filters in order, up to the first rejection. Throws only for an invalid time limit. */
  async run(
    filters: readonly FilterUse[],
    text: string,
    options: { readonly signal: AbortSignal; readonly timeoutMs?: number | undefined },
  ): Promise<FilterRun> {
    const reports: FilterReport[] = [];
    const results: FilterResult[] = [];
    for (const use of filters.map(toUse)) {
      const registered = this.#filters.get(use.name)?.policy;
      const timeoutMs =
        use.timeoutMs ?? registered?.timeoutMs ?? options.timeoutMs ?? DEFAULT_HOOK_TIMEOUT_MS;
      checkTimeout(timeoutMs);
      const result = await this.#ask(use.name, text, { signal: options.signal, timeoutMs });
      reports.push({ filter: use.name, result });
      const onFailure = use.onFailure ?? registered?.onFailure ?? "reject";
      const counted = result.type === "failed" ? buildFailureResult(use.name, result, onFailure) : result;
      results.push(counted);
      if (counted.type === "reject") break;
    }
    return { verdict: combineResults(results), reports };
  }

  async #ask(
    name: string,
    text: string,
    limit: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<FilterResult | HookFailure> {
    const registered = this.#filters.get(name);
    if (registered === undefined) {
      const known = this.names.length === 0 ? "none is registered" : `registered: ${this.names.join(", ")}`;
      return buildFailure("not-found", `There is no input filter "${name}" on this worker; ${known}`);
    }
    const answer = await askWithTimeout(
      async (signal) => parseResult(await registered.filter(text, signal)),
      limit,
    );
    if (answer.type === "failed") return answer;
    return (
      answer.value ??
      buildFailure("wrong-answer", `Input filter "${name}" answered neither pass, warn nor reject`)
    );
  }
}

function toUse(use: FilterUse): { readonly name: string } & FilterPolicy {
  return typeof use === "string" ? { name: use } : use;
}

function buildFailureResult(name: string, failure: HookFailure, onFailure: "reject" | "pass"): FilterResult {
  // After a cancellation nothing waits for a pass, so no policy turns the failure into one.
  if (onFailure === "pass" && failure.fault !== "cancelled") return { type: "pass" };
  return { type: "reject", reason: `Input filter "${name}" failed: ${failure.message}` };
}

/** Copies only the known fields, because an application's object may return something else when it is read again. */
function parseResult(answer: unknown): FilterResult | undefined {
  if (typeof answer !== "object" || answer === null) return undefined;
  const { type, warning, reason } = answer as Readonly<Record<string, unknown>>;
  if (type === "pass") return { type };
  if (type === "warn" && typeof warning === "string") return { type, warning };
  if (type === "reject" && typeof reason === "string") return { type, reason };
  return undefined;
}
