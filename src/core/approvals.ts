import type { Permission } from "../schema/record.ts";
import type { Call } from "./calling.ts";
import type { QuestionRef } from "./digest.ts";
import { coverageOf, isGranted } from "./grants.ts";
import { decide } from "./permission.ts";
import { type PhaseOf, pinnedOf } from "./phase.ts";
import type { State } from "./state.ts";
import { isReader } from "./tool-facts.ts";

// Who may run what: the policy decides, a person is asked where it says so, and what a person has allowed for good is
// not asked again.

/** What a person says to a call that waits. */
export type ApprovalAnswer =
  | {
      readonly type: "approve";
      /** In place of the model's; the tool checks them as it checks those. */
      readonly arguments?: Readonly<Record<string, unknown>>;
      /** The same kind of call is not asked for again. */
      readonly always?: boolean;
    }
  | { readonly type: "refuse"; readonly reason?: string }
  /** To a question of its tool. `values`: hash of the text that holds them. */
  | { readonly type: "answer"; readonly answer: QuestionAnswer; readonly values?: string };

type QuestionAnswer = "accept" | "decline" | "cancel";

/** A call that waits for a person, as status shows it. */
export type PendingApproval = {
  readonly toolCallId: string;
  readonly tool: string;
  readonly summary: string;
  readonly reason: string;
  readonly sinceMs: number;
  readonly untilMs: number | undefined;
  /** Its tool asks for more than a yes. */
  readonly question?: QuestionRef;
  /** What `always` would cover from then on, a phrase each; empty when each such call is asked for. */
  readonly covers?: readonly string[];
};

export type Permit = Permission & { readonly reason: string };

/** What the policy says of a call whose tool is known and whose arguments fit. */
export function permitFor(state: State, call: Call): Permit {
  const { permissions, tools, agentName } = pinnedOf(state);
  if (permissions === undefined) return { outcome: "allow", rule: "otherwise", reason: "there is no policy" };
  if (isReader(state, call.name)) {
    return { outcome: "allow", rule: "otherwise", reason: "it reads this conversation only" };
  }
  const tool = tools[call.name];
  const asked = { tool: call.name, replay: tool?.replay ?? "unsafe" };
  const decision = decide(permissions, asked, call.facts ?? {}, {
    agent: agentName,
    interactive: state.mode === "interactive",
  });
  const confirms = tool?.confirm === true && decision.outcome === "allow" && decision.rule === "otherwise";
  const permit: Permit = confirms
    ? { outcome: "ask", rule: "confirm", reason: `${call.name} is to be confirmed each time` }
    : decision;
  if (permit.outcome !== "ask" || !isGranted(state.grants ?? [], call)) return permit;
  return { outcome: "allow", rule: "grant", reason: "a person has allowed this kind of call" };
}

export function pendingApprovals({ phase }: State): readonly PendingApproval[] {
  if (phase.type !== "calling-tools") return [];
  return phase.calls.flatMap(({ id, name, summary, status, facts }) => {
    if (status.type !== "asking") return [];
    const { type: _, failed, ...asked } = status;
    const call = { name, ...(facts === undefined ? {} : { facts }) };
    const isKind = asked.question === undefined && failed === undefined;
    const covers = isKind ? { covers: coverageOf(call) } : {};
    return [{ toolCallId: id, tool: name, summary, ...asked, ...covers }];
  });
}

/** When the first question of the phase runs out. */
export function approvalsUntil({ calls }: PhaseOf<"calling-tools">): number | undefined {
  const times = calls.flatMap(({ status }) =>
    status.type === "asking" && status.untilMs !== undefined ? [status.untilMs] : [],
  );
  return times.length === 0 ? undefined : Math.min(...times);
}
