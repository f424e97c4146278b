import { type Execution, toErrorExecution } from "../../../activities/tool/execution.ts";
import type { ViewAnswer } from "../../../activities/tool/view-call.ts";
import type { CallToolCommand } from "../../../core/machine/state/activity-command.ts";
import { ScenarioError } from "../scenario-error.ts";
import type { Deed } from "../schema.ts";
import { beginCall } from "./perform-call.ts";
import type { Stage } from "./stage.ts";
import { beginChild, type Child, type Drive, mustDiffer } from "./sub-agents.ts";

export type Running = {
  readonly command: CallToolCommand;
  readonly deed: Deed;
  readonly run: (deed: Deed) => Promise<Execution>;
  /** Whether the call is a sub-agent's. */
  readonly child?: Child;
};

/** The running calls, and the one that ends next. */
export class RunningCalls {
  readonly #stage: Stage;
  readonly #drive: Drive;
  readonly #waiting: Running[] = [];
  readonly #begun = new Set<string>();

  constructor(stage: Stage, drive: Drive) {
    this.#stage = stage;
    this.#drive = drive;
  }

  get left(): number {
    return this.#waiting.length;
  }

  has({ call }: CallToolCommand): boolean {
    return this.#waiting.some(({ command }) => command.call === call);
  }

  /** Begins a call; returns its result if it has one without running. */
  async begin(command: CallToolCommand): Promise<ViewAnswer | undefined> {
    if (command.child !== undefined) {
      const child = await beginChild(this.#stage, command, command.child, this.#drive);
      this.#waiting.push({ command, deed: { gives: "" }, run: async () => toErrorExecution(""), child });
      mustDiffer(this.#waiting.flatMap(({ child: one }) => one ?? []));
      return undefined;
    }
    const begun = await beginCall(this.#stage, command);
    if ("result" in begun) return begun.result;
    this.#stage.results.claim(command);
    this.#waiting.push({ command, deed: this.#deedOf(command.toolName), run: begun.run });
    return undefined;
  }

  /** Returns the visibly running calls: Temporal schedules the others only after the quick ones, which are local, ended. */
  noteBegun(): void {
    const fresh = this.#inOrderOfEnd().filter(({ command }) => !this.#begun.has(buildKey(command)));
    const quick = fresh.filter(({ command }) => command.isLocal);
    const seen = quick.length > 0 ? quick : fresh;
    if (seen.length === 0) return;
    for (const { command } of seen) this.#begun.add(buildKey(command));
    const called = seen.filter(({ child }) => child === undefined);
    if (called.length === 0) return;
    this.#stage.note({ type: "called", calls: called.map(({ command }) => command.toolCallId) });
  }

  nextToEnd(): Running | undefined {
    const [first] = this.#inOrderOfEnd();
    if (first === undefined) return undefined;
    if (!this.#begun.has(buildKey(first.command))) this.noteBegun();
    this.#waiting.splice(this.#waiting.indexOf(first), 1);
    return first;
  }

  takeAll(): readonly Running[] {
    return this.#waiting.splice(0);
  }

  #deedOf(toolName: string): Deed {
    const { scenario, notes } = this.#stage;
    const nth = notes.ran.filter(({ tool }) => tool === toolName).length - 1;
    const does = scenario.tools.find(({ name }) => name === toolName)?.does ?? [];
    return does[Math.min(nth, does.length - 1)] ?? { gives: "ok" };
  }

  /** Quick calls end first, timed-out calls last, the others in call order. */
  #inOrderOfEnd(): readonly Running[] {
    const rank = ({ command, deed }: Running) =>
      command.isLocal ? 0 : deed.hangs === true ? 2 + (command.timeoutMs ?? 0) : 1;
    const waiting = [...this.#waiting].sort((a, b) => rank(a) - rank(b) || a.command.call - b.command.call);
    const order: Running[] = [];
    while (waiting.length > 0) {
      const ready = waiting.findIndex(
        ({ command, deed }) =>
          command.isLocal === (waiting[0]?.command.isLocal ?? false) &&
          !waiting.some(({ command: other }) => other.toolCallId === deed.after),
      );
      if (ready === -1) throw new ScenarioError(["tools: the calls of one unit wait for each other (after)"]);
      order.push(...waiting.splice(ready, 1));
    }
    return order;
  }
}

function buildKey({ call, generation }: CallToolCommand): string {
  return `${call}/${generation}`;
}
