import { type Account, allowance, left, setAside, used } from "./account.ts";
import { type Counted, toUsd } from "./amounts.ts";
import { dollars, type Spent } from "./limits.ts";

/** What there is too little of. */
export type Shortage = Counted | "depth" | "time";

const NAMES = {
  turns: "turns",
  tokens: "tokens",
  nanoUsd: "dollars",
  children: "sub-agents",
} satisfies Record<Counted, string>;

/** Why a child may not begin, for the model that wanted it. */
export function refusal(shortage: Shortage, account: Account, spent: Spent, nowMs: number): string {
  switch (shortage) {
    case "depth":
      return "Not started: no further agent may stand below this one (maxDepth). Do the task yourself.";
    case "time":
      return "Not started: the time of this agent is over.";
    default: {
      const rest = amount(shortage, left(account, spent, nowMs)[shortage] ?? 0);
      return `Not started: too few ${NAMES[shortage]} are left for one more agent, ${rest} of ${tally(account, spent, shortage)}. ${advice(account)}`;
    }
  }
}

/**
 * Why an agent may begin no further step though its own limits would let it: what its parent gave it, or what is spent
 * and set aside below it. Nothing while something of everything is left.
 *
 * It is to be asked behind `limitReached`, which says the same of the agent's own limits and own spending.
 */
export function budgetReached(account: Account, spent: Spent, nowMs: number): string | undefined {
  const rest = left(account, spent, nowMs);
  for (const part of ["turns", "tokens", "nanoUsd"] as const) {
    if (part === "nanoUsd" && rest.nanoUsd === 0 && used(account, spent).nanoUsd === null) {
      return `Budget of dollars cannot be kept: what was spent of ${amount(part, allowance(account).nanoUsd)} is unknown`;
    }
    if (rest[part] === 0)
      return `Budget of ${NAMES[part]} reached: none left of ${tally(account, spent, part)}`;
  }
  return rest.timeMs === 0 ? "Budget of time reached: the deadline has passed" : undefined;
}

function tally(account: Account, spent: Spent, part: Counted): string {
  const whole = amount(part, allowance(account)[part] ?? 0);
  const gone = amount(part, used(account, spent)[part]);
  const aside = setAside(account)[part];
  const waiting = aside === 0 ? "" : `, ${amount(part, aside)} set aside for agents at work`;
  return `${whole} (${gone} spent${waiting})`;
}

function amount(part: Counted, value: number | null): string {
  return part === "nanoUsd" ? dollars(toUsd(value)) : String(value);
}

function advice({ open }: Account): string {
  return Object.keys(open).length === 0
    ? "Do the task yourself, or end with what there is."
    : "Wait for those that are at work: what they do not use comes back.";
}
