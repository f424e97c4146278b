import {
  buildTimeoutExecution,
  type Execution,
  executeCall,
  toErrorExecution,
} from "../../../activities/tool/execution.ts";
import { buildUnknownOutcome } from "../../../activities/tool/lost-execution.ts";
import { findCall } from "../../../activities/tool/tool-result.ts";
import { answerViewCall, type ViewAnswer } from "../../../activities/tool/view-call.ts";
import type { CallToolCommand } from "../../../core/machine/state/command.ts";
import type { ToolCallContent } from "../../../schema/message.ts";
import type { Tool, ViewTool } from "../../../tools/tool.ts";
import { ScenarioError } from "../scenario-error.ts";
import type { Deed } from "../schema.ts";
import type { Stage } from "./stage.ts";
import { beginChild, type Child, type Drive, mustDiffer } from "./sub-agents.ts";

export type Running = {
  readonly command: CallToolCommand;
  readonly deed: Deed;
  readonly run: (deed: Deed) => Promise<Execution>;
  /** It is a sub-agent's. */
  readonly child?: Child;
};

/** The calls that run now, and who of them ends next. */
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

  /** Begins a call; gives its result where it has one without being run. */
  async begin(command: CallToolCommand): Promise<ViewAnswer | undefined> {
    if (command.child !== undefined) {
      const child = await beginChild(this.#stage, command, command.child.given, this.#drive);
      this.#waiting.push({ command, deed: { gives: "" }, run: async () => toErrorExecution(""), child });
      mustDiffer(this.#waiting.flatMap(({ child: one }) => one ?? []));
      return undefined;
    }
    const { tools, transcript, notes } = this.#stage;
    const { branch, answer, call: index, arguments: changed, toolName, toolCallId, generation } = command;
    const tool = tools.get(toolName);
    const call = findCall(transcript.getMessage(branch, answer), index, changed);
    if (tool === undefined || call === undefined) throw new Error(`There is no tool or call ${toolName}`);
    if (tool.kind === "view") return this.#ofView(tool, call, command);
    if (generation > 0 && tool.replay === "unsafe") return this.#unknown();
    const found = await argumentsOf(tool, call);
    if ("misfit" in found) return found.misfit;
    notes.ran.push({ call: toolCallId, tool: toolName, arguments: found.value });
    const run = (deed: Deed) => executeCall(tool, call, () => done(deed, command.timeoutMs));
    this.#waiting.push({ command, deed: this.#deedOf(toolName), run });
    return undefined;
  }

  #ofView(
    tool: ViewTool,
    call: ToolCallContent,
    { branch, answer, call: index, view }: CallToolCommand,
  ): ViewAnswer {
    const { transcript } = this.#stage;
    const written = findCall(transcript.getMessage(branch, answer), index);
    if (view === undefined || written === undefined) throw new Error(`${tool.name} came without a view`);
    const entries = transcript.listEntries(branch).slice(0, answer);
    return answerViewCall({ tool, call, written, answer, atHand: view, entries });
  }

  /** As the worker that comes next finds it: scenarios' tools leave nothing running. */
  #unknown(): Execution {
    const lost = { generation: 0, process: "", startedAtMs: this.#stage.machine.nowMs };
    return buildUnknownOutcome(lost, true, "nothing was running any more", []);
  }

  /** Which of them are seen to run now: Temporal schedules the others only when the quick ones, which are local, have ended. */
  noteBegun(): void {
    const fresh = this.#inOrderOfEnd().filter(({ command }) => !this.#begun.has(key(command)));
    const quick = fresh.filter(({ command }) => command.local);
    const seen = quick.length > 0 ? quick : fresh;
    if (seen.length === 0) return;
    for (const { command } of seen) this.#begun.add(key(command));
    const called = seen.filter(({ child }) => child === undefined);
    if (called.length === 0) return;
    this.#stage.note({ type: "called", calls: called.map(({ command }) => command.toolCallId) });
  }

  nextToEnd(): Running | undefined {
    const [first] = this.#inOrderOfEnd();
    if (first === undefined) return undefined;
    if (!this.#begun.has(key(first.command))) this.noteBegun();
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

  /** Quick calls end first, those that run into their time-out last; the others in call order. */
  #inOrderOfEnd(): readonly Running[] {
    const rank = ({ command, deed }: Running) =>
      command.local ? 0 : deed.hangs === true ? 2 + (command.timeoutMs ?? 0) : 1;
    const waiting = [...this.#waiting].sort((a, b) => rank(a) - rank(b) || a.command.call - b.command.call);
    const order: Running[] = [];
    while (waiting.length > 0) {
      const ready = waiting.findIndex(
        ({ command, deed }) =>
          command.local === (waiting[0]?.command.local ?? false) &&
          !waiting.some(({ command: other }) => other.toolCallId === deed.after),
      );
      if (ready === -1) throw new ScenarioError(["tools: the calls of one unit wait for each other (after)"]);
      order.push(...waiting.splice(ready, 1));
    }
    return order;
  }
}

function key({ call, generation }: CallToolCommand): string {
  return `${call}/${generation}`;
}

/** What the tool is run with, or what the model is told instead. */
async function argumentsOf(
  tool: Tool,
  call: ToolCallContent,
): Promise<{ readonly value: unknown } | { readonly misfit: Execution }> {
  let found: { value: unknown } | undefined;
  const execution = await executeCall(tool, call, (value) => {
    found = { value };
    return toErrorExecution("");
  });
  return found ?? { misfit: execution };
}

function done(deed: Deed, timeoutMs: number | undefined): Execution {
  if (deed.hangs === true) return buildTimeoutExecution(timeoutMs);
  if (deed.gives === undefined) return toErrorExecution(new Error(deed.fails ?? deed.throws));
  return {
    output: { content: [{ type: "text", text: deed.gives }] },
    isError: false,
    outcomeUnknown: false,
  };
}
