import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Permission } from "../../schema/loop-event.ts";
import { describeCoverage, isGranted } from "../permission/grants.ts";
import { decidePermission } from "../permission/permission.ts";
import { type PhaseOf, requirePinned } from "./phase.ts";
import type { Call } from "./state/call-status.ts";
import type { QuestionRef } from "./state/digest.ts";
import type { State } from "./state/state.ts";
import { isReadFullTool } from "./tool-facts.ts";

// Which calls run: the policy decides, the user is asked where it says so, and calls that the user has allowed for the
// rest of the session need no approval.

/** A call that waits for the user, as the status reports it. */
export type PendingApproval = {
  readonly toolCallId: string;
  /** The name of the tool. */
  readonly tool: string;
  /** One line that says what the call does. */
  readonly summary: string;
  /** Why the call needs an approval. */
  readonly reason: string;
  /** When the wait began, in Unix milliseconds. */
  readonly sinceMs: number;
  /** When the call is denied, in Unix milliseconds; `undefined` if it waits without a limit. */
  readonly untilMs: number | undefined;
  /** The tool asks for more than an approval. */
  readonly questionRef?: QuestionRef;
  /** What `always` would cover from then on, one phrase each; empty when each such call needs its own approval. */
  readonly grantDescriptions?: readonly string[];
};

export type PermitDecision = Permission & { readonly reason: string };

/** Applies the policy to a call whose tool is known and whose arguments are valid. */
export function decidePermit(state: State, call: Call): PermitDecision {
  const { permissions, tools, agentName } = requirePinned(state);
  if (permissions === undefined) return { outcome: "allow", rule: "otherwise", reason: "there is no policy" };
  if (isReadFullTool(state, call.name)) {
    return { outcome: "allow", rule: "otherwise", reason: "it only reads this conversation" };
  }
  const tool = tools[call.name];
  const asked = { tool: call.name, replay: tool?.replay ?? "unsafe" };
  const decision = decidePermission(permissions, asked, call.facts ?? {}, {
    agent: agentName,
    interactive: state.mode === "interactive",
  });
  const confirms = tool?.confirm === true && decision.outcome === "allow" && decision.rule === "otherwise";
  const permit: PermitDecision = confirms
    ? { outcome: "ask", rule: "confirm", reason: `${call.name} must be confirmed each time` }
    : decision;
  if (permit.outcome !== "ask" || !isGranted(state.grants ?? [], call)) return permit;
  return { outcome: "allow", rule: "grant", reason: "the user has allowed this kind of call" };
}

export function listPendingApprovals({ phase }: State): readonly PendingApproval[] {
  if (phase.type !== "calling-tools") return [];
  return phase.calls.flatMap(({ id, name, summary, status, facts }) => {
    if (status.type !== "awaiting-user") return [];
    const { type: _, failure, question: questionRef, ...asked } = status;
    const call = { name, ...omitUndefined({ facts }) };
    const isKind = questionRef === undefined && failure === undefined;
    const covers = isKind ? { grantDescriptions: describeCoverage(call) } : {};
    const question = omitUndefined({ questionRef });
    return [{ toolCallId: id, tool: name, summary, ...asked, ...question, ...covers }];
  });
}

/** Returns when the first open question of the phase expires. */
export function findApprovalDeadline({ calls }: PhaseOf<"calling-tools">): number | undefined {
  const times = calls.flatMap(({ status }) =>
    status.type === "awaiting-user" && status.untilMs !== undefined ? [status.untilMs] : [],
  );
  return times.length === 0 ? undefined : Math.min(...times);
}
