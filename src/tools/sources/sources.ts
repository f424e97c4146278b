import type { AgentDefinition } from "../../schema/definition.ts";
import type { PinnedOutside, PinnedTool } from "../../schema/outside.ts";
import type { Tool } from "../tool.ts";
import { outsideChanges } from "./changes.ts";
import { named } from "./names.ts";
import type { LoopAtWork, PinContext, PinnedPart, ToolSource } from "./source.ts";

export type Pinning = {
  /** The definition that the run is pinned to: with what its sources offer, or as it is where it asks nothing of any. */
  readonly definition: AgentDefinition;
  readonly warnings: readonly string[];
};

/** The sources of tools that a worker has beside its own. */
export class ToolSources {
  readonly #sources: readonly ToolSource[];
  readonly #made = new WeakMap<PinnedTool, Tool>();

  constructor(sources: readonly ToolSource[] = []) {
    this.#sources = sources;
  }

  /**
   * Asks the sources that the definition names, side by side.
   *
   * @param taken - Names of tools that the agent has besides.
   * @param before - What the session's newest loop was pinned to.
   */
  async pin(
    definition: AgentDefinition,
    taken: readonly string[],
    before: PinnedOutside | undefined,
    context: PinContext,
  ): Promise<Pinning> {
    const { pinned: _, ...asked } = definition;
    const sources = this.#sources.filter((source) => source.isAsked(asked));
    if (sources.length === 0) return { definition: asked, warnings: [] };
    const parts = await Promise.all(sources.map((source) => source.pin(asked, context)));
    const pinned = joined(parts, taken);
    return {
      definition: { ...asked, pinned },
      warnings: [...parts.flatMap(({ warnings = [] }) => warnings), ...outsideChanges(before, pinned)],
    };
  }

  /** The tools of a definition that was pinned. The same object each time, as long as the definition is kept. */
  tools({ pinned }: Pick<AgentDefinition, "pinned">): readonly Tool[] {
    return (pinned?.tools ?? []).flatMap((tool) => this.#toolOf(tool) ?? []);
  }

  /** By the name that the model calls it by. */
  tool(name: string, { pinned }: Pick<AgentDefinition, "pinned">): Tool | undefined {
    const found = pinned?.tools.find((tool) => tool.name === name);
    return found === undefined ? undefined : this.#toolOf(found);
  }

  /** For as long as the loop works: it is told what its sources offer besides. */
  watch(definition: AgentDefinition, loop: LoopAtWork): void {
    for (const source of this.#sources) if (source.isAsked(definition)) source.watch?.(definition, loop);
  }

  unwatch(loopId: string): void {
    for (const source of this.#sources) source.unwatch?.(loopId);
  }

  async close(): Promise<void> {
    await Promise.all(this.#sources.map((source) => source.close?.()));
  }

  #toolOf(pinned: PinnedTool): Tool | undefined {
    const before = this.#made.get(pinned);
    if (before !== undefined) return before;
    const source = this.#sources.find(({ kind }) => kind === pinned.source);
    const tool = source?.tool(pinned);
    if (tool !== undefined) this.#made.set(pinned, tool);
    return tool;
  }
}

function joined(parts: readonly PinnedPart[], taken: readonly string[]): PinnedOutside {
  const prompt = parts.flatMap((part) => part.prompt ?? []).join("\n\n");
  const rules = parts.flatMap((part) => part.rules ?? []);
  const contents = Object.assign({}, ...parts.map((part) => part.contents)) as Record<string, string>;
  return {
    tools: [
      ...named(
        parts.flatMap(({ tools = [] }) => tools),
        taken,
      ),
    ],
    ...(prompt === "" ? {} : { prompt }),
    ...(rules.length === 0 ? {} : { rules }),
    ...(Object.keys(contents).length === 0 ? {} : { contents }),
  };
}
