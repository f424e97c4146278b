import { expect } from "vitest";
import {
  computeRemaining,
  getAllowance,
  openAccount,
  release,
  setOwnAllowance,
  settle,
  sumReserved,
  sumUsed,
} from "../../src/core/budget/account.ts";
import type { Account, Allowance, Amounts } from "../../src/core/budget/account-state.ts";
import { addAmounts, NO_AMOUNTS, toNanoUsd } from "../../src/core/budget/amounts.ts";
import type { Spent } from "../../src/core/budget/limits.ts";
import { reserve } from "../../src/core/budget/reserve.ts";
import { must } from "../support/must.ts";

// A tree of agents that spend, start children, end and die in any order. It keeps its own books beside the accounts:
// what each agent has really spent, and who was at work beside whom.

/** The most that one step takes. */
export const MAX_STEP = { turns: 1, tokens: 500, nanoUsd: toNanoUsd(0.003) };
const SPENDING = ["turns", "tokens", "nanoUsd"] as const;

const MAX_AGENTS = 40;

type Step = { readonly tokens: number; readonly costUsd: number };

type Agent = {
  readonly id: string;
  readonly parent: Agent | undefined;
  readonly depth: number;
  readonly children: Agent[];
  account: Account;
  spent: Spent;
  /** The same in integers, summed up step by step. */
  real: Amounts;
  inFlight: Step | undefined;
  over: boolean;
  /** Children that were at work together, each time that some began. */
  readonly crews: Agent[][];
};

export type Action =
  | { readonly type: "begin-step"; readonly who: number; readonly tokens: number; readonly costUsd: number }
  | { readonly type: "end-step"; readonly who: number }
  | {
      readonly type: "spawn";
      readonly who: number;
      readonly own: readonly Allowance[];
      readonly keep: 0 | 1;
      readonly unborn: boolean;
    }
  | { readonly type: "end"; readonly who: number }
  | { readonly type: "die"; readonly who: number }
  | { readonly type: "raise"; readonly who: number; readonly by: number }
  | { readonly type: "continue-as-new"; readonly who: number };

export class Tree {
  readonly root: Agent;
  readonly all: Agent[] = [];
  #released = 0;

  constructor(own: Allowance) {
    this.root = this.#add("0", undefined, openAccount(own));
  }

  get atWork(): readonly Agent[] {
    return this.all.filter(({ over }) => !over);
  }

  do(action: Action): void {
    const agent = this.atWork[action.who % Math.max(1, this.atWork.length)];
    if (agent === undefined) return;
    switch (action.type) {
      case "begin-step":
        this.#beginStep(agent, action);
        return;
      case "end-step":
        this.#endStep(agent);
        return;
      case "spawn":
        this.#spawn(agent, action.own, action.keep, action.unborn);
        return;
      case "end":
        this.#end(agent);
        return;
      case "die":
        this.#die(agent);
        return;
      case "raise":
        agent.account = setOwnAllowance(agent.account, raised(agent.account.own, action.by));
        return;
      case "continue-as-new":
        agent.account = JSON.parse(JSON.stringify(agent.account)) as Account;
        return;
    }
  }

  #add(id: string, parent: Agent | undefined, account: Account): Agent {
    const agent: Agent = {
      id,
      parent,
      depth: parent === undefined ? 0 : parent.depth + 1,
      children: [],
      account,
      spent: { turns: 0, tokens: 0, durationMs: 0, costUsd: 0 },
      real: NO_AMOUNTS,
      inFlight: undefined,
      over: false,
      crews: [],
    };
    this.all.push(agent);
    parent?.children.push(agent);
    return agent;
  }

  #beginStep(agent: Agent, { tokens, costUsd }: Step): void {
    const { turns, tokens: rest, nanoUsd } = computeRemaining(agent.account, agent.spent, 0);
    if (agent.inFlight === undefined && turns !== 0 && rest !== 0 && nanoUsd !== 0) {
      agent.inFlight = { tokens, costUsd };
    }
  }

  #endStep(agent: Agent): void {
    const step = agent.inFlight;
    if (step === undefined) return;
    const { turns, tokens, costUsd } = agent.spent;
    agent.spent = {
      turns: turns + 1,
      tokens: tokens + step.tokens,
      durationMs: 0,
      costUsd: (costUsd ?? 0) + step.costUsd,
    };
    agent.real = addAmounts(agent.real, {
      ...NO_AMOUNTS,
      turns: 1,
      tokens: step.tokens,
      nanoUsd: toNanoUsd(step.costUsd),
    });
    agent.inFlight = undefined;
  }

  #spawn(agent: Agent, own: readonly Allowance[], keep: 0 | 1, unborn: boolean): void {
    if (this.all.length > MAX_AGENTS) return;
    const first = this.all.length + this.#released;
    const asked = own.map((allowed, index) => ({ id: `${agent.id}.${first + index}`, own: allowed }));
    const { account, reservations } = reserve(agent.account, agent.spent, asked, 0, keep);
    agent.account = account;
    for (const [index, reservation] of reservations.entries()) {
      if (reservation.type === "denied") continue;
      expectNarrower(reservation.allocation, own[index] as Allowance);
      if (unborn && index === 0) {
        agent.account = release(agent.account, reservation.id);
        this.#released += 1;
        continue;
      }
      this.#add(reservation.id, agent, openAccount(own[index] as Allowance, reservation.allocation));
    }
    agent.crews.push(agent.children.filter(({ over }) => !over));
  }

  /** Its children end before it. */
  #end(agent: Agent): void {
    for (const child of agent.children) if (!child.over) this.#end(child);
    this.#endStep(agent);
    this.#settle(agent, sumUsed(agent.account, agent.spent));
  }

  /** With all below it, and nobody saw the end of the steps in flight: the record of each shows what it had spent. */
  #die(agent: Agent): void {
    for (const one of below(agent)) {
      one.over = true;
      one.inFlight = undefined;
    }
    this.#settle(agent, { ...totalOf(agent), children: below(agent).length - 1 });
  }

  #settle(agent: Agent, spent: Amounts): void {
    agent.over = true;
    const { parent } = agent;
    if (parent === undefined) return;
    parent.account = settle(parent.account, agent.id, spent);
    const again = settle(parent.account, agent.id, { turns: 9, tokens: 9, nanoUsd: 9, children: 9 });
    must(again === parent.account, `${agent.id} is settled once`);
  }

  /** What must hold at every moment. */
  check(): void {
    const sums = new Map<Agent, Sums>();
    for (const agent of [...this.all].reverse()) {
      const sum = sumsOf(agent, sums);
      sums.set(agent, sum);
      const wrong = this.#wrong(agent, sum);
      must(wrong.length === 0, wrong.join("; "));
    }
  }

  #wrong(agent: Agent, { total, agents, height, sideBySide }: Sums): readonly string[] {
    const limits = getAllowance(agent.account);
    const { reserved } = agent.account;
    const atWork = agent.children.filter(({ over }) => !over).length;
    const passed = (part: (typeof SPENDING)[number]) => {
      const limit = limits[part];
      return limit !== null && (total[part] ?? 0) > limit + sideBySide * MAX_STEP[part];
    };
    const wrong: readonly (readonly [string, boolean])[] = [
      ...SPENDING.map((part) => [`${part} are passed`, passed(part)] as const),
      ["children are passed", limits.children !== null && agents - 1 > limits.children],
      ["depth is passed", height > limits.depth],
      [
        "what is set aside is no whole number",
        ![...Object.values(reserved), sumReserved(agent.account)].every(isWhole),
      ],
      ["open children are not those at work", !agent.over && Object.keys(reserved).length !== atWork],
      [
        "something left is below zero",
        Object.values(computeRemaining(agent.account, agent.spent, 0)).some(
          (rest) => rest !== null && rest < 0,
        ),
      ],
    ];
    return wrong.flatMap(([what, is]) => (is ? [`${agent.id}: ${what}`] : []));
  }

  /** Everyone ends: the root's account then says what all have spent, to the last billionth, and nothing is set aside. */
  finish(): void {
    for (const child of this.root.children) if (!child.over) this.#end(child);
    if (this.root.over) return;
    this.#endStep(this.root);
    expect(this.root.account.reserved).toEqual({});
    expect(sumReserved(this.root.account)).toEqual(NO_AMOUNTS);
    const started = this.all.length - 1;
    expect(sumUsed(this.root.account, this.root.spent)).toEqual({ ...totalOf(this.root), children: started });
  }
}

function below(agent: Agent): Agent[] {
  return [agent, ...agent.children.flatMap(below)];
}

function totalOf(agent: Agent): Amounts {
  return below(agent).reduce((sum, { real }) => addAmounts(sum, real), NO_AMOUNTS);
}

type Sums = {
  readonly total: Amounts;
  readonly agents: number;
  readonly height: number;
  /** Agents whose steps may come on top of the limit: itself, and the most that were ever below it side by side. */
  readonly sideBySide: number;
};

/** @param sums - Of all that are below. */
function sumsOf(agent: Agent, sums: ReadonlyMap<Agent, Sums>): Sums {
  const children = agent.children.map((child) => sums.get(child) as Sums);
  const crews = agent.crews.map((crew) =>
    crew.reduce((sum, child) => sum + (sums.get(child) as Sums).sideBySide, 0),
  );
  return {
    total: children.reduce((sum, { total }) => addAmounts(sum, total), agent.real),
    agents: children.reduce((sum, { agents }) => sum + agents, 1),
    height: Math.max(0, ...children.map(({ height }) => 1 + height)),
    sideBySide: 1 + Math.max(0, ...crews),
  };
}

function raised(own: Allowance, by: number): Allowance {
  const more = (amount: number | null) => (amount === null ? null : amount + by);
  return {
    ...own,
    turns: more(own.turns),
    tokens: more(own.tokens),
    nanoUsd: more(own.nanoUsd),
    children: more(own.children),
  };
}

function expectNarrower(given: Allowance, own: Allowance): void {
  for (const part of ["turns", "tokens", "nanoUsd", "children", "depth"] as const) {
    const cap = own[part];
    const share = given[part] ?? Number.POSITIVE_INFINITY;
    must(cap === null || share <= cap, `a share of ${share} ${part} is within ${cap}`);
  }
}

function isWhole(amounts: Amounts): boolean {
  return Object.values(amounts).every((value) => value !== null && Number.isSafeInteger(value) && value >= 0);
}
