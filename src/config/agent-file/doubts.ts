import { TOOL_ALIASES } from "../../core/machine/tool-aliases.ts";
import { nearestName } from "../../platform/text/nearest-name.ts";
import { BUILT_IN_STRATEGIES } from "../../schema/context.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { Path } from "../source/node.ts";
import { type Origin, originOf } from "./draft.ts";
import type { Workbench } from "./workbench.ts";

/** Warnings about a definition that is valid (CFG-28). */
export function doubtsOf(
  bench: Workbench,
  definition: AgentDefinition,
  origins: ReadonlyMap<string, Origin>,
  below: Path = [],
): void {
  const place = (path: Path): Path | undefined => {
    const origin = originOf(origins, [...below, ...path]);
    return origin?.type === "file" ? origin.path : undefined;
  };
  unknownTools(bench, definition, place(["tools"]));
  unknownStrategy(bench, definition, place(["context", "compaction", "strategy"]));
  for (const [index, { agent }] of (definition.subAgents ?? []).entries()) {
    doubtsOf(bench, agent, origins, [...below, "subAgents", index, "agent"]);
  }
}

/** Where it is not known what strategies there are, only a name that is nearly a built-in one is surely a mistake. */
function unknownStrategy(bench: Workbench, { context }: AgentDefinition, place: Path | undefined): void {
  const builtIn = bench.surroundings.knownStrategies ?? BUILT_IN_STRATEGIES;
  const name = context?.compaction.strategy;
  if (name === undefined || place === undefined || builtIn.includes(name)) return;
  const nearest = nearestName(name, builtIn);
  const expected = `one of ${builtIn.join(", ")}, or a strategy of the worker's`;
  if (nearest !== undefined || bench.surroundings.knownStrategies !== undefined) {
    const hint = nearest === undefined ? `known are ${builtIn.join(", ")}` : `did you mean "${nearest}"?`;
    const message = `there is no compaction strategy "${name}"; ${hint}`;
    const about = { kind: "invalid-field", severity: "error", message, found: name, expected } as const;
    bench.tell(place, { ...about, ...(nearest === undefined ? {} : { nearest }) });
    return;
  }
  const message = `compaction strategy "${name}" is not built in: a worker that does not have it refuses the agent; built in are ${builtIn.join(", ")}`;
  bench.doubt(place, message, { found: name, expected });
}

function unknownTools(bench: Workbench, { tools, strict }: AgentDefinition, place: Path | undefined): void {
  const known = bench.surroundings.knownTools;
  if (known === undefined || place === undefined) return;
  for (const [index, tool] of tools.entries()) {
    if (known.includes(tool) || Object.hasOwn(TOOL_ALIASES, tool)) continue;
    const nearest = nearestName(tool, [...known, ...Object.keys(TOOL_ALIASES)]);
    const hint = nearest === undefined ? `built in are ${known.join(", ")}` : `did you mean "${nearest}"?`;
    const then = strict
      ? "a worker that does not have it refuses the agent"
      : "it is left out unless the worker has it";
    bench.doubt([...place, index], `tool "${tool}" is not built in; ${then}; ${hint}`, {
      found: tool,
      expected: `one of ${known.join(", ")}, or a tool of the worker's`,
      ...(nearest === undefined ? {} : { nearest }),
    });
  }
}
