import { redactPreview } from "../../platform/text/redact.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { DefinitionChange } from "../../schema/definition-change.ts";
import type { Limits } from "../../schema/limits.ts";
import type { PermissionPolicy } from "../../schema/permission.ts";
import { describeChange, describeNameChange, isAlike } from "./describe-change.ts";
import { TOOL_ALIASES } from "./tool-aliases.ts";

// What changes when an agent is updated to another definition (design 3.8): the table of docs/updating.md.

/** Every field that an author sets. */
type Field = Exclude<keyof AgentDefinition, "pinned">;

type Row = {
  readonly takesEffect: DefinitionChange["takesEffect"];
  /** Vendors cache this field together with the conversation after it: a change invalidates the whole cache. */
  readonly breaksCache?: true;
};

const TURN: Row = { takesEffect: "next-turn" };
const CACHED: Row = { takesEffect: "next-turn", breaksCache: true };
/** Fields that are read when a loop opens. */
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
  contextTranslation: TURN,
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
  sandbox: TURN,
  snapshots: TURN,
  sessionScope: LOOP,
  titles: LOOP,
  limits: TURN,
  retry: TURN,
  cache: TURN,
  steeringMode: TURN,
  followUpMode: TURN,
  skills: CACHED,
  answers: TURN,
} as const satisfies Record<Field, Row>;

const FIELDS = Object.keys(TAKES_EFFECT) as readonly Field[];

/** The maximum size of a field's description in bytes, including the dots of a cut. */
const DESCRIPTION_BYTES = 160;

export type DefinitionChanges = {
  /** In the order of the table; empty when nothing differs. */
  readonly changes: readonly DefinitionChange[];
  readonly warnings: readonly string[];
  /** Why the update is not allowed. */
  readonly rejections: readonly string[];
};

export function compareDefinitions(from: AgentDefinition, to: AgentDefinition): DefinitionChanges {
  const changed = FIELDS.filter((field) => !isAlike(from[field], to[field]));
  return {
    changes: changed.map((field) => ({
      field,
      description: redactPreview(describeFieldChange(field, from, to), DESCRIPTION_BYTES - "...".length),
      takesEffect: TAKES_EFFECT[field].takesEffect,
    })),
    warnings: [
      ...warnOfCacheLoss(changed, from, to),
      ...warnOfLaxerPolicy(from, to),
      ...warnOfWorkspace(from, to),
    ],
    rejections: removesPolicy(from.permissions, to.permissions)
      ? [
          `It would remove the permission policy (${describePolicy(from.permissions)}): retain it in the new definition, ` +
            "or start a session without it",
        ]
      : [],
  };
}

/** Returns the limits that the new definition changes. A limit that an operator has raised stays when it is unchanged. */
export function findChangedLimits(from: Limits, to: Limits): Partial<Limits> {
  const names = Object.keys(to) as readonly (keyof Limits)[];
  return Object.fromEntries(
    names.filter((name) => from[name] !== to[name]).map((name) => [name, to[name]]),
  ) as Partial<Limits>;
}

/** Lists the names by which an agent's calls are known, as far as its definition says. */
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
    `${breaking.join(", ")}: breaks the vendor's prompt cache; the next request is billed without cached tokens`,
  ];
}

/** From the strictest to the most permissive. */
const STRICTNESS = [
  "deny",
  "ask",
  "deny-unsafe",
  "always-ask-unsafe",
  "ask-unsafe",
  "allow",
] as const satisfies PermissionPolicy["otherwise"][];

function warnOfLaxerPolicy(from: AgentDefinition, to: AgentDefinition): readonly string[] {
  const [before, after] = [from.permissions.otherwise, to.permissions.otherwise];
  if (STRICTNESS.indexOf(after) <= STRICTNESS.indexOf(before)) return [];
  return [
    `permissions: calls that match no rule were decided by "${before}", and are now decided by "${after}"`,
  ];
}

function warnOfWorkspace(from: AgentDefinition, to: AgentDefinition): readonly string[] {
  return from.workspace === to.workspace
    ? []
    : ["workspace: files stay where they are; the agent is not notified that it works in another folder"];
}

function removesPolicy(from: PermissionPolicy, to: PermissionPolicy): boolean {
  return isPolicy(from) && !isPolicy(to);
}

function isPolicy({ rules, otherwise }: PermissionPolicy): boolean {
  return rules.length > 0 || otherwise === "ask" || otherwise === "deny";
}

/** Returns why an agent cannot be updated now: calls of tools that it would lose are waiting for approval. */
export function findMissingTools(
  asked: readonly { readonly tool: string; readonly toolCallId: string }[],
  tools: readonly string[],
): readonly string[] {
  return asked
    .filter(({ tool }) => !tools.includes(tool))
    .map(
      ({ tool, toolCallId }) =>
        `The call ${toolCallId} of ${tool} waits for approval, and the new definition has no tool ${tool}: ` +
        "approve or deny it first",
    );
}
