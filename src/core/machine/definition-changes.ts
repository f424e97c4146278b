import { redactPreview } from "../../platform/text/redact.ts";
import type { AgentDefinition, Limits } from "../../schema/definition.ts";
import type { PermissionPolicy } from "../../schema/permission.ts";
import type { DefinitionChange } from "../../schema/record.ts";
import { describeChange, describeNameChange, isAlike } from "./describe-change.ts";
import { TOOL_ALIASES } from "./tool-aliases.ts";

// What becomes of an agent that is moved from one definition to another (design 3.8): the table of docs/updating.md.

/** All that an author says. */
type Field = Exclude<keyof AgentDefinition, "pinned">;

type Row = {
  readonly takesEffect: DefinitionChange["takesEffect"];
  /** Vendors keep it together with the conversation behind it: once it is another, none of that is found any more. */
  readonly breaksCache?: true;
};

const TURN: Row = { takesEffect: "next-turn" };
const CACHED: Row = { takesEffect: "next-turn", breaksCache: true };
/** Read where a loop opens. */
const LOOP: Row = { takesEffect: "next-loop" };

export const TAKES_EFFECT = {
  name: TURN,
  description: TURN,
  systemPrompt: CACHED,
  model: CACHED,
  fallbacks: TURN,
  thinking: CACHED,
  temperature: TURN,
  maxTokens: TURN,
  configId: LOOP,
  tools: CACHED,
  strict: TURN,
  openapi: CACHED,
  inputFilters: TURN,
  hooks: TURN,
  transformContext: TURN,
  convertToLlm: TURN,
  output: CACHED,
  mcp: CACHED,
  subAgents: CACHED,
  delegation: TURN,
  toolStrategy: TURN,
  toolTimeoutMs: TURN,
  permissions: TURN,
  context: TURN,
  approvals: TURN,
  nudges: TURN,
  repeatedFailures: TURN,
  revert: TURN,
  redact: TURN,
  workspace: TURN,
  snapshots: TURN,
  sessionScope: LOOP,
  limits: TURN,
  retry: TURN,
  cache: TURN,
  steeringMode: TURN,
  followUpMode: TURN,
  skills: CACHED,
} as const satisfies Record<Field, Row>;

const FIELDS = Object.keys(TAKES_EFFECT) as readonly Field[];

/** Of what is said of one field, in bytes, the dots of a cut included. */
const DESCRIPTION_BYTES = 160;

export type DefinitionChanges = {
  /** In the order of the table; empty when nothing differs. */
  readonly changes: readonly DefinitionChange[];
  readonly warnings: readonly string[];
  /** Why it may not be done. */
  readonly refusals: readonly string[];
};

export function compareDefinitions(from: AgentDefinition, to: AgentDefinition): DefinitionChanges {
  const changed = FIELDS.filter((field) => !isAlike(from[field], to[field]));
  return {
    changes: changed.map((field) => ({
      field,
      said: redactPreview(describeFieldChange(field, from, to), DESCRIPTION_BYTES - "...".length),
      takesEffect: TAKES_EFFECT[field].takesEffect,
    })),
    warnings: [
      ...warnOfCacheLoss(changed, from, to),
      ...warnOfLaxerPolicy(from, to),
      ...warnOfWorkspace(from, to),
    ],
    refusals: removesPolicy(from.permissions, to.permissions)
      ? [
          `It would remove the permission policy (${describePolicy(from.permissions)}): keep it in the new definition, ` +
            "or begin a session without it",
        ]
      : [],
  };
}

/** Those that are other ones in the new definition: what an operator has raised stays where it says the same as before. */
export function findChangedLimits(from: Limits, to: Limits): Partial<Limits> {
  const names = Object.keys(to) as readonly (keyof Limits)[];
  return Object.fromEntries(
    names.filter((name) => from[name] !== to[name]).map((name) => [name, to[name]]),
  ) as Partial<Limits>;
}

/** Names by which an agent's calls are known, as far as its definition says. */
export function listToolNames({
  tools,
  subAgents = [],
}: Pick<AgentDefinition, "tools" | "subAgents">): readonly string[] {
  return [...tools.map((name) => TOOL_ALIASES[name] ?? name), ...subAgents.map(({ name }) => name)];
}

function describeFieldChange(field: Field, from: AgentDefinition, to: AgentDefinition): string {
  switch (field) {
    case "subAgents":
      return describeNameChange(from.subAgents ?? [], to.subAgents ?? []);
    case "openapi":
      return describeNameChange(from.openapi ?? [], to.openapi ?? []);
    case "permissions":
      return `${describePolicy(from.permissions)} → ${describePolicy(to.permissions)}`;
    default:
      return describeChange(from[field], to[field]);
  }
}

function describePolicy({ rules, otherwise }: PermissionPolicy): string {
  return `${rules.length} ${rules.length === 1 ? "rule" : "rules"}, otherwise ${otherwise}`;
}

function warnOfCacheLoss(
  changed: readonly Field[],
  from: AgentDefinition,
  to: AgentDefinition,
): readonly string[] {
  const rows: Record<Field, Row> = TAKES_EFFECT;
  const breaking = changed.filter((field) => rows[field].breaksCache === true);
  if (breaking.length === 0 || !from.cache.enabled || !to.cache.enabled) return [];
  return [
    `${breaking.join(", ")}: breaks the vendor's prompt cache; the next request is paid as a whole new one`,
  ];
}

/** From what lets least run by itself to what lets all. */
const STRICTNESS = ["deny", "ask", "ask-unsafe", "allow"] as const satisfies PermissionPolicy["otherwise"][];

function warnOfLaxerPolicy(from: AgentDefinition, to: AgentDefinition): readonly string[] {
  const [before, after] = [from.permissions.otherwise, to.permissions.otherwise];
  if (STRICTNESS.indexOf(after) <= STRICTNESS.indexOf(before)) return [];
  return [`permissions: what no rule speaks of was decided by "${before}", and is by "${after}" now`];
}

function warnOfWorkspace(from: AgentDefinition, to: AgentDefinition): readonly string[] {
  return from.workspace === to.workspace
    ? []
    : ["workspace: files stay where they are; the agent is not told that it works elsewhere"];
}

function removesPolicy(from: PermissionPolicy, to: PermissionPolicy): boolean {
  return isPolicy(from) && !isPolicy(to);
}

function isPolicy({ rules, otherwise }: PermissionPolicy): boolean {
  return rules.length > 0 || otherwise === "ask" || otherwise === "deny";
}

/** Why an agent cannot be moved now: a person is asked about calls of tools that it would lose. */
export function findMissingTools(
  asked: readonly { readonly tool: string; readonly toolCallId: string }[],
  tools: readonly string[],
): readonly string[] {
  return asked
    .filter(({ tool }) => !tools.includes(tool))
    .map(
      ({ tool, toolCallId }) =>
        `The call ${toolCallId} of ${tool} waits for a person, and the new definition has no tool ${tool}: ` +
        "approve or deny it first",
    );
}
