import type { Permission } from "../schema/record.ts";
import type { CallFacts, CommandFact } from "./call-facts.ts";
import type { Call } from "./calling.ts";
import type { QuestionRef } from "./digest.ts";
import { decide } from "./permission.ts";
import { type PhaseOf, pinnedOf } from "./phase.ts";
import type { State } from "./state.ts";
import { isReader } from "./tool-facts.ts";

// Who may run what: the policy decides, a person is asked where it says so, and what a person has allowed for good is
// not asked again.

/** A kind of call that a person has allowed for the rest of the session. */
export type Grant = {
  readonly tool: string;
  /** Of a shell: the first words of each command that was allowed. Absent for tools without commands. */
  readonly commands?: readonly (readonly string[])[];
};

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

export type QuestionAnswer = "accept" | "decline" | "cancel";

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
};

export type Permit = Permission & { readonly reason: string };

/** Grants that a state keeps; the oldest go first. */
const MAX_GRANTS = 50;

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

/** The same kind of call as this one, or nothing where no kind can be named: such a call is asked for each time. */
export function grantFor(call: Call): Grant | undefined {
  const { facts, name } = call;
  if (facts === undefined) return { tool: name };
  if (!isPlain(facts)) return undefined;
  const kinds = (facts.commands ?? []).map(kindOf);
  if (kinds.length === 0) return { tool: name };
  const named = kinds.filter((kind) => kind !== undefined);
  return named.length < kinds.length ? undefined : { tool: name, commands: named };
}

export function withGrant(grants: readonly Grant[], grant: Grant | undefined): readonly Grant[] {
  return grant === undefined ? grants : [...grants, grant].slice(-MAX_GRANTS);
}

function isGranted(grants: readonly Grant[], { name, facts }: Call): boolean {
  const own = grants.filter(({ tool }) => tool === name);
  if (own.length === 0 || (facts !== undefined && !isPlain(facts))) return false;
  const commands = facts?.commands ?? [];
  if (commands.length === 0) return own.some((grant) => grant.commands === undefined);
  const allowed = own.flatMap((grant) => grant.commands ?? []);
  return commands.every(({ words }) =>
    allowed.some((prefix) => prefix.every((word, at) => words[at] === word)),
  );
}

/** Nothing in it is hidden or uncertain, and nothing lies outside the workspace. */
function isPlain({ opaque, cut, paths = [], commands = [] }: CallFacts): boolean {
  if (opaque !== undefined || cut === true) return false;
  return (
    paths.every(({ inside }) => inside) &&
    commands.every(({ words, fixed }) => words.length > 0 && fixed === undefined)
  );
}

/** Programs whose second word says what they do: a subcommand, or the script that they run. */
const SAID_BY_SECOND_WORD: ReadonlySet<string> = new Set(
  (
    "apt apt-get aws brew bun cargo docker gcloud gh git go helm kubectl make npm npx pip pnpm podman systemctl " +
    "terraform uv yarn bash deno java node perl php python python3 ruby sh zsh"
  ).split(" "),
);

/**
 * `git push origin main` is of the kind `git push`; `touch x` of the kind `touch`; `git -C x push` of no kind that could
 * be named.
 */
function kindOf({ words }: CommandFact): readonly string[] | undefined {
  const [program = "", second = ""] = words;
  if (!SAID_BY_SECOND_WORD.has(program)) return [program];
  return second === "" || second.startsWith("-") ? undefined : [program, second];
}

export function pendingApprovals({ phase }: State): readonly PendingApproval[] {
  if (phase.type !== "calling-tools") return [];
  return phase.calls.flatMap(({ id, name, summary, status }) => {
    if (status.type !== "asking") return [];
    const { type: _, ...asked } = status;
    return [{ toolCallId: id, tool: name, summary, ...asked }];
  });
}

/** When the first question of the phase runs out. */
export function approvalsUntil({ calls }: PhaseOf<"calling-tools">): number | undefined {
  const times = calls.flatMap(({ status }) =>
    status.type === "asking" && status.untilMs !== undefined ? [status.untilMs] : [],
  );
  return times.length === 0 ? undefined : Math.min(...times);
}
