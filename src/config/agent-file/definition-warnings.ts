import { TOOL_ALIASES } from "../../core/machine/tool-aliases.ts";
import { findNearestName } from "../../platform/text/nearest-name.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { BUILT_IN_STRATEGIES } from "../../schema/context.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { Path } from "../source/source-node.ts";
import type { AgentFileLoader } from "./agent-file-loader.ts";
import { findOrigin, type Origin } from "./draft.ts";

/** Adds warnings about a valid definition (CFG-28). */
export function addDefinitionWarnings(
  loader: AgentFileLoader,
  definition: AgentDefinition,
  origins: ReadonlyMap<string, Origin>,
  below: Path = [],
): void {
  const findPath = (path: Path): Path | undefined => {
    const origin = findOrigin(origins, [...below, ...path]);
    return origin?.type === "file" ? origin.path : undefined;
  };
  warnUnknownTools(loader, definition, findPath(["tools"]));
  warnUnknownStrategy(loader, definition, findPath(["context", "compaction", "strategy"]));
  for (const [index, { agent }] of (definition.subAgents ?? []).entries()) {
    addDefinitionWarnings(loader, agent, origins, [...below, "subAgents", index, "agent"]);
  }
}

/** Reports an unknown strategy. If the worker may have others, only a near match of a built-in name is an error. */
function warnUnknownStrategy(
  loader: AgentFileLoader,
  { context }: AgentDefinition,
  path: Path | undefined,
): void {
  const builtIn = loader.environment.knownStrategies ?? BUILT_IN_STRATEGIES;
  const name = context?.compaction.strategy;
  if (name === undefined || path === undefined || builtIn.includes(name)) return;
  const nearest = findNearestName(name, builtIn);
  const expected = `one of ${builtIn.join(", ")}, or a strategy that the worker has registered`;
  if (nearest !== undefined || loader.environment.knownStrategies !== undefined) {
    const hint = nearest === undefined ? `known are ${builtIn.join(", ")}` : `did you mean "${nearest}"?`;
    const message = `there is no compaction strategy "${name}"; ${hint}`;
    const about = { kind: "invalid-field", severity: "error", message, found: name, expected } as const;
    loader.report(path, { ...about, ...omitUndefined({ nearest }) });
    return;
  }
  const message = `compaction strategy "${name}" is not built in: a worker without it rejects the agent; built-in strategies are ${builtIn.join(", ")}`;
  loader.reportWarning(path, message, { found: name, expected });
}

function warnUnknownTools(
  loader: AgentFileLoader,
  { tools, strict }: AgentDefinition,
  path: Path | undefined,
): void {
  const known = loader.environment.knownTools;
  if (known === undefined || path === undefined) return;
  for (const [index, tool] of tools.entries()) {
    if (known.includes(tool) || Object.hasOwn(TOOL_ALIASES, tool)) continue;
    const nearest = findNearestName(tool, [...known, ...Object.keys(TOOL_ALIASES)]);
    const hint =
      nearest === undefined ? `built-in tools are ${known.join(", ")}` : `did you mean "${nearest}"?`;
    const then = strict ? "a worker without it rejects the agent" : "it is left out unless the worker has it";
    loader.reportWarning([...path, index], `tool "${tool}" is not built in; ${then}; ${hint}`, {
      found: tool,
      expected: `one of ${known.join(", ")}, or a tool that the worker has registered`,
      ...omitUndefined({ nearest }),
    });
  }
}
