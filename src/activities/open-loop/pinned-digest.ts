import { buildContextConfig, computeTriggerLevel } from "../../core/machine/compaction-trigger.ts";
import type { PinnedDigest, ToolFacts } from "../../core/machine/state/digest.ts";
import { REVERT_TOOL } from "../../core/view/view-request.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Continuation } from "../../schema/continuation.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { Limits } from "../../schema/limits.ts";
import type { PermissionPolicy } from "../../schema/permission.ts";
import { RepeatSettings, RevertSettings } from "../../schema/recovery.ts";
import type { SandboxMode } from "../../schema/sandbox.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Dependencies } from "../dependencies.ts";
import { findHookPoints } from "../hooks/ask-hooks.ts";
import { type ChildFacts, getDelegation } from "./child-definitions.ts";

type PinnedDigestOptions = {
  readonly continuation?: Continuation | undefined;
  readonly registeredTools?: Dependencies["registeredTools"] | undefined;
  /** The sandbox of the agent's processes. */
  readonly sandbox?: SandboxMode | undefined;
};

/** Builds the part of a definition that the machine decides by. */
export function buildPinnedDigest(
  definition: AgentDefinition,
  definitionHash: string,
  tools: readonly Tool[],
  children: ChildFacts,
  { continuation, registeredTools, sandbox }: PinnedDigestOptions = {},
): PinnedDigest {
  const { context, nudges } = definition;
  const hooks = findHookPoints(definition);
  return {
    definitionHash,
    agentName: definition.name,
    model: definition.model.id,
    limits: mergeLimits(definition, continuation),
    toolStrategy: definition.toolStrategy,
    steeringMode: definition.steeringMode,
    followUpMode: definition.followUpMode,
    maxRetries: definition.retry.maxRetries,
    permissions: mergePermissions(definition),
    ...(context === null
      ? {}
      : { context: { compactAbove: computeTriggerLevel(buildContextConfig(context, definition)) } }),
    approvals: definition.approvals,
    ...(nudges.enabled ? { nudges: nudges.max } : {}),
    repeatedFailures: definition.repeatedFailures ?? RepeatSettings.parse({}),
    ...(tools.some(({ name }) => name === REVERT_TOOL)
      ? { revert: definition.revert ?? RevertSettings.parse({}) }
      : {}),
    ...omitUndefined({ hooks, sandbox }),
    ...(definition.inputFilters.length > 0 ? { hasFilters: true } : {}),
    tools: Object.fromEntries(
      tools.map((tool) => [
        tool.name,
        buildToolFacts(tool, definition, children, { registeredTools, sandbox }),
      ]),
    ),
    ...(children.size === 0 ? {} : { delegation: getDelegation(definition) }),
  };
}

/** Merges permissions: the definition's rules apply before what a source says about its own tools. */
function mergePermissions({ permissions, pinned }: AgentDefinition): PermissionPolicy {
  return pinned?.rules === undefined
    ? permissions
    : { ...permissions, rules: [...permissions.rules, ...pinned.rules] };
}

/** Merges limits: a continuation's limits take precedence over the definition's. */
export function mergeLimits({ limits }: AgentDefinition, continuation: Continuation | undefined): Limits {
  return { ...limits, ...continuation?.limits } as Limits;
}

function buildToolFacts(
  tool: Tool,
  definition: AgentDefinition,
  children: ChildFacts,
  { registeredTools: registered, sandbox }: PinnedDigestOptions,
): ToolFacts {
  const child = tool.kind === "agent" ? children.get(tool.name) : undefined;
  const { replay, quick, needsApproval, kind } = tool;
  const timeoutMs = getTimeLimit(tool, definition);
  return {
    replay,
    quick,
    ...omitUndefined({ timeoutMs }),
    ...(needsApproval ? { confirm: true } : {}),
    ...(kind === "view" ? { view: true as const } : {}),
    ...(registered?.has(tool.name) === false && child === undefined ? { isUnregistered: true as const } : {}),
    ...omitUndefined({ child, sandbox: getProcessSandbox(tool, sandbox) }),
  };
}

/** Returns the sandbox of a tool's processes; `undefined` for a tool that starts none. */
export function getProcessSandbox(tool: Tool, sandbox: SandboxMode | undefined): SandboxMode | undefined {
  const { processes = "none" } = tool.kind === "executable" ? tool : {};
  if (processes === "none" || sandbox === undefined) return undefined;
  return processes === "sandboxed" ? sandbox : processes;
}

/** Returns the time limit of a tool: its own, otherwise the definition's, otherwise none (PHI-06). */
export function getTimeLimit(
  { timeoutMs }: Pick<Tool, "timeoutMs">,
  { toolTimeoutMs }: Pick<AgentDefinition, "toolTimeoutMs">,
): number | undefined {
  return timeoutMs ?? toolTimeoutMs ?? undefined;
}
