import type { EvaluationLimits } from "../../schema/evaluation.ts";
import { type Account, openAccount } from "../budget/account.ts";
import { type Allowance, allowanceOf } from "../budget/amounts.ts";
import { orNoLimit, type Spent } from "../budget/limits.ts";
import { type Reservation, reserve } from "../budget/reserve.ts";
import type { OpenedAgent } from "./digest.ts";

// What the parts of an evaluation may spend: each what its own definition allows, and all together what the evaluation
// does (design 3.9). The evaluation itself spends nothing.

const NOTHING_SPENT: Spent = { turns: 0, tokens: 0, durationMs: 0, costUsd: 0 };

type Agent = Pick<OpenedAgent, "limits" | "delegation">;

/** One that is deep enough for whatever its parts may start. */
export function evaluationAccount(
  limits: EvaluationLimits | undefined,
  agents: readonly Agent[],
  startsAtMs: number,
): Account {
  const depth = 1 + Math.max(...agents.map((agent) => ownOf(agent).depth));
  const shared = allowanceOf(orNoLimit(limits), undefined, startsAtMs);
  return openAccount({ ...shared, children: null, depth });
}

/** An agent's own time begins with its loop, and stands still while a person is waited for: its loop sees to it. */
function ownOf({ limits, delegation }: Agent): Allowance {
  return { ...allowanceOf(limits, delegation, 0), deadlineMs: null };
}

/** @param ids - One for each agent; unique in the account. @param keepsOne - An equal share stays for the judge. */
export function reserveParts(
  account: Account,
  ids: readonly string[],
  agents: readonly Agent[],
  nowMs: number,
  keepsOne: boolean,
): { readonly account: Account; readonly reservations: readonly Reservation[] } {
  const asked = agents.map((agent, index) => ({ id: ids[index] ?? String(index), own: ownOf(agent) }));
  return reserve(account, NOTHING_SPENT, asked, nowMs, keepsOne ? 1 : 0);
}
