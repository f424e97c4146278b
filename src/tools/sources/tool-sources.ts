import type { AgentDefinition } from "../../schema/definition.ts";
import type { PinnedSources, PinnedTool } from "../../schema/tool-source.ts";
import type { Tool } from "../tool.ts";
import { describeSourceChanges } from "./describe-source-changes.ts";
import { assignToolNames } from "./tool-names.ts";
import type { ActiveLoop, PinContext, SourcePin, ToolSource } from "./tool-source.ts";

export type PinResult = {
  /** The definition that the run is pinned to: with the tools of its sources, or unchanged if it uses none. */
  readonly definition: AgentDefinition;
  readonly warnings: readonly string[];
};

/** The tool sources that a worker has in addition to its own tools. */
export class ToolSources {
  readonly #sources: readonly ToolSource[];
  readonly #tools = new WeakMap<PinnedTool, Tool>();

  constructor(sources: readonly ToolSource[] = []) {
    this.#sources = sources;
  }

  /**
   * Asks the sources that the definition names, concurrently.
   *
   * @param taken - Names of the agent's other tools.
   * @param before - What the session's newest loop was pinned to.
   */
  async pin(
    definition: AgentDefinition,
    takenNames: readonly string[],
    before: PinnedSources | undefined,
    context: PinContext,
  ): Promise<PinResult> {
    const { pinned: _, ...unpinned } = definition;
    const sources = this.#sources.filter((source) => source.isUsedBy(unpinned));
    if (sources.length === 0) return { definition: unpinned, warnings: [] };
    const parts = await Promise.all(sources.map((source) => source.pin(unpinned, context)));
    const pinned = joinPins(parts, takenNames);
    return {
      definition: { ...unpinned, pinned },
      warnings: [...parts.flatMap(({ warnings = [] }) => warnings), ...describeSourceChanges(before, pinned)],
    };
  }

  /** Returns the tools of a pinned definition. The same objects each time, as long as the definition is cached. */
  getTools({ pinned }: Pick<AgentDefinition, "pinned">): readonly Tool[] {
    return (pinned?.tools ?? []).flatMap((tool) => this.#createTool(tool) ?? []);
  }

  /** Returns the tool with the name by which the model calls it. */
  getTool(name: string, { pinned }: Pick<AgentDefinition, "pinned">): Tool | undefined {
    const found = pinned?.tools.find((tool) => tool.name === name);
    return found === undefined ? undefined : this.#createTool(found);
  }

  /** Notifies the loop of changes in what its sources offer, as long as it works. */
  watch(definition: AgentDefinition, loop: ActiveLoop): void {
    for (const source of this.#sources) if (source.isUsedBy(definition)) source.watch?.(definition, loop);
  }

  unwatch(loopId: string): void {
    for (const source of this.#sources) source.unwatch?.(loopId);
  }

  async close(): Promise<void> {
    await Promise.all(this.#sources.map((source) => source.close?.()));
  }

  #createTool(pinned: PinnedTool): Tool | undefined {
    const before = this.#tools.get(pinned);
    if (before !== undefined) return before;
    const source = this.#sources.find(({ kind }) => kind === pinned.source);
    const tool = source?.createTool(pinned);
    if (tool !== undefined) this.#tools.set(pinned, tool);
    return tool;
  }
}

function joinPins(parts: readonly SourcePin[], taken: readonly string[]): PinnedSources {
  const prompt = parts.flatMap((part) => part.prompt ?? []).join("\n\n");
  const rules = parts.flatMap((part) => part.rules ?? []);
  const contents = Object.assign({}, ...parts.map((part) => part.contents)) as Record<string, string>;
  return {
    tools: [
      ...assignToolNames(
        parts.flatMap(({ tools = [] }) => tools),
        taken,
      ),
    ],
    ...(prompt === "" ? {} : { prompt }),
    ...(rules.length === 0 ? {} : { rules }),
    ...(Object.keys(contents).length === 0 ? {} : { contents }),
  };
}
