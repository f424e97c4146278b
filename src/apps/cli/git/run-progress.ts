import type { AgentEvent, Session, SessionEvent } from "../../../client/index.ts";
import type { Phase } from "../../git/index.ts";
import type { Context } from "../context.ts";
import { describeCost, shortenText } from "../text.ts";

const PHASES: Readonly<Record<Phase, string>> = {
  analysing: "Analysing the repository …",
  "head-moved": "The head has moved: examining the difference …",
  "checking-evidence": "Checking the evidence …",
  judging: "A critic judges the result …",
  revising: "Revising what the critic has found …",
  done: "Done.",
};

const DELEGATING: readonly string[] = ["parallel_analyze", "analyze_subagent"];
const MAX_LINE_CHARS = 110;

type EndEvent = Extract<AgentEvent, { type: "ToolExecutionEnd" }>;

/** Shows the progress of git work on standard error: phases, what is read, who is at work, hunks and cost so far. */
export class RunProgress {
  readonly #context: Context;
  readonly #isQuiet: boolean;
  #session: Session | undefined;
  readonly #hunks = new Set<string>();
  readonly #agents = new Set<string>();
  #costUsd: number | null = 0;

  constructor(context: Context, isQuiet: boolean) {
    this.#context = context;
    this.#isQuiet = isQuiet;
  }

  showPhase(phase: Phase): void {
    if (this.#context.json) this.#context.printJson({ type: "phase", phase });
    else if (!this.#isQuiet) this.#context.report(this.#context.err.cyan(PHASES[phase]));
  }

  follow(session: Session): void {
    this.#session = session;
  }

  showEvent({ event }: SessionEvent): void {
    switch (event.type) {
      case "ToolExecutionStart":
        if (DELEGATING.includes(event.toolName)) this.#agents.add(event.toolCallId);
        this.#show(`${event.toolName} ${describeArguments(event.args)}`);
        break;
      case "ToolExecutionEnd":
        this.#showEnd(event);
        break;
      case "TurnEnd":
        void this.#readCost();
        break;
      default:
        break;
    }
  }

  #showEnd({ toolName, toolCallId, isError, result }: EndEvent): void {
    const { hunks } = (result.details ?? {}) as { readonly hunks?: { readonly shown?: unknown } };
    if (Array.isArray(hunks?.shown)) for (const id of hunks.shown) this.#hunks.add(String(id));
    const isAgent = this.#agents.delete(toolCallId);
    if (isError) this.#show(this.#context.err.red(`✗ ${toolName} failed`));
    else if (isAgent) this.#show(this.#context.err.green(`✓ ${toolName} has reported`));
  }

  #show(text: string): void {
    if (this.#isQuiet || this.#context.json) return;
    const facts = [
      ...(this.#hunks.size === 0 ? [] : [`${this.#hunks.size} hunks read`]),
      ...(this.#agents.size === 0 ? [] : [`${this.#agents.size} sub-agents at work`]),
      ...(this.#costUsd === null || this.#costUsd === 0 ? [] : [describeCost(this.#costUsd)]),
    ];
    const suffix = facts.length === 0 ? "" : this.#context.err.dim(` (${facts.join(", ")})`);
    this.#context.report(`  ${text}${suffix}`);
  }

  async #readCost(): Promise<void> {
    const status = await this.#session?.status().catch(() => undefined);
    this.#costUsd = status?.costUsd ?? this.#costUsd;
  }
}

function describeArguments(args: unknown): string {
  const fields = typeof args === "object" && args !== null ? Object.entries(args) : [];
  const text = fields.map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return shortenText(text.join(" "), MAX_LINE_CHARS);
}
