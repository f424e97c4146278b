import { expect } from "vitest";
import type { Allowance, Amounts } from "../../src/core/budget/account-state.ts";
import { addAmounts, NO_AMOUNTS } from "../../src/core/budget/amounts.ts";
import type { CallToolCommand } from "../../src/core/machine/state/activity-command.ts";
import type { TaskReport } from "../../src/core/machine/state/task.ts";
import { play, type Run } from "./support/run.ts";
import { type Reply, usageOf } from "./support/script.ts";

// A tree of agents, each a machine of its own with its own record, that work, call others, are stopped and die in any
// order. It keeps its own books beside the machines' accounts: what each model call of each agent has cost.

/** What one answer costs, at most. */
export const MOST_TOKENS = 101;

type Agent = {
  readonly run: Run;
  readonly parent: Agent | undefined;
  readonly call: number;
  readonly depth: number;
  readonly children: Agent[];
  readonly script: readonly Reply[];
  over: boolean;
};

export type Move =
  | { readonly type: "step" | "rotation" | "stop" | "kill"; readonly who: number }
  | { readonly type: "lose"; readonly who: number };

export class MachineTree {
  readonly root: Agent;
  readonly all: Agent[] = [];
  /** The most agents that were at work at one time. */
  sideBySide = 1;
  readonly #scripts: readonly (readonly Reply[])[];
  #calls = new Map<string, Agent>();

  constructor(share: Allowance, scripts: readonly (readonly Reply[])[]) {
    this.#scripts = scripts;
    this.root = this.#add(undefined, 0, share);
  }

  get atWork(): readonly Agent[] {
    return this.all.filter(({ over }) => !over);
  }

  async move(move: Move): Promise<void> {
    const agent = this.atWork[move.who % Math.max(1, this.atWork.length)];
    if (agent === undefined) return;
    switch (move.type) {
      case "step":
        await this.#step(agent);
        return;
      case "lose":
        if (agent.run.command.type === "call-model" && agent.run.state.phase.type === "calling-model") {
          if (agent.run.state.phase.dispatch.lostWorkers < 2) await agent.run.lose("claimed");
        }
        return;
      case "rotation":
        agent.run.rotationDue();
        return;
      case "stop":
        this.#stop(agent);
        return;
      case "kill":
        if (agent.parent !== undefined) this.#kill(agent);
        return;
    }
  }

  /** Everyone goes on until all are over; who waits for others comes after them. */
  async finish(): Promise<void> {
    for (let rounds = 0; this.atWork.length > 0; rounds++) {
      expect(rounds, "the tree comes to an end").toBeLessThan(5000);
      for (const agent of [...this.atWork].reverse()) await this.#step(agent);
    }
  }

  #add(parent: Agent | undefined, call: number, share: Allowance): Agent {
    const script = this.#scripts[this.all.length % this.#scripts.length] ?? [];
    const run = play({
      session: `s${this.all.length}`,
      replies: script,
      share,
      delegation: { maxDepth: 3, maxChildren: 6 },
      strategy: { type: "parallel" },
    });
    const depth = parent === undefined ? 0 : parent.depth + 1;
    const agent: Agent = { run, parent, call, depth, children: [], script, over: false };
    this.all.push(agent);
    parent?.children.push(agent);
    this.sideBySide = Math.max(this.sideBySide, this.atWork.length);
    return agent;
  }

  async #step(agent: Agent): Promise<void> {
    const { run } = agent;
    const { command } = run;
    if (command.type === "finish") {
      this.#report(agent);
      return;
    }
    if (command.type !== "call-tools") {
      await run.step();
      return;
    }
    if (command.recordCommand !== undefined) run.tell(await run.perform(command.recordCommand));
    for (const one of command.calls) {
      if (one.child === undefined) await run.tool(one.call);
      else if (one.child.session === undefined) this.#begin(agent, one, one.child.allocation);
    }
  }

  #begin(agent: Agent, { call, toolCallId }: CallToolCommand, given: Allowance): void {
    const key = `${agent.run.setting.session}/${toolCallId}`;
    expect(this.#calls.has(key), "a call starts one sub-agent").toBe(false);
    agent.run.beginChild(call);
    this.#calls.set(key, this.#add(agent, call, given));
  }

  #report(agent: Agent): void {
    const { command } = agent.run;
    expect(agent.children.every(({ over }) => over)).toBe(true);
    agent.over = true;
    agent.run.checkEnd();
    if (command.type !== "finish") return;
    // To the last token, with all that is below.
    expect(command.report?.used).toEqual(spentBelow(agent));
    agent.parent?.run.tell({
      type: "child-finished",
      call: agent.call,
      report: command.report as TaskReport,
    });
  }

  /** As the workflow does it: those below are cancelled, and report before their caller goes on. */
  #stop(agent: Agent): void {
    agent.run.stop();
    for (const child of agent.children) if (!child.over) this.#stop(child);
  }

  /** It is terminated, and with it all below it; its record shows what it has spent. */
  #kill(agent: Agent): void {
    for (const one of withAllBelow(agent)) one.over = true;
    const { session } = agent.run.state;
    const used = spentBelow(agent);
    const report = { session, branch: "main", tokens: 0, messages: 0, used };
    agent.parent?.run.tell({
      type: "child-lost",
      call: agent.call,
      reason: "it was terminated",
      report: { ...report, outcome: { type: "stopped", reason: "it was ended from outside" } },
    });
  }

  /** What has been spent only grows: what holds at the end has held before. */
  check(limits: Allowance): void {
    for (const agent of this.all) {
      const given = agent.parent === undefined ? limits : (agent.run.setting.share as Allowance);
      const spent = spentBelow(agent);
      const inFlight = MOST_TOKENS * this.sideBySide;
      if (given.tokens !== null) expect(spent.tokens).toBeLessThanOrEqual(given.tokens + inFlight);
      if (given.turns !== null) expect(spent.turns).toBeLessThanOrEqual(given.turns);
      if (given.children !== null) expect(spent.children).toBeLessThanOrEqual(given.children);
      expect(agent.depth).toBeLessThanOrEqual(3);
    }
  }
}

function withAllBelow(agent: Agent): readonly Agent[] {
  return [agent, ...agent.children.flatMap(withAllBelow)];
}

/** Of turns that have ended: what the records of an agent and of all below it show. */
function spentBelow(agent: Agent): Amounts {
  const all = withAllBelow(agent);
  const own = all.map(({ run }) => ownOf(run)).reduce(addAmounts, NO_AMOUNTS);
  return { ...own, children: all.length - 1 };
}

function ownOf({ transcript, state }: Run): Amounts {
  const written = transcript.records.flatMap(({ loopId }) => transcript.listEvents(loopId));
  const known = new Map([...written, ...state.outbox.events].map((event) => [event.sequence, event.body]));
  const usages = [...known.values()].flatMap((body) => (body.type === "TurnEnd" ? [body.usage] : []));
  const tokens = usages.reduce((sum, { input, output }) => sum + input + output, 0);
  return { ...NO_AMOUNTS, turns: usages.length, tokens };
}

export const answer = (tokens: number, names: readonly string[]): Reply => ({
  text: "",
  calls: names.map((name) => ({ name })),
  usage: usageOf(tokens, 1),
});
