import { TOOL_ALIASES, toCanonicalName } from "../core/machine/tool-aliases.ts";
import { findNearestName } from "../platform/text/nearest-name.ts";
import { ToolSources } from "./sources/tool-sources.ts";
import { assertNotReserved, type Tool } from "./tool.ts";

export type ToolResolution =
  /** `warnings` names the tools that were skipped, one sentence each. */
  | { readonly ok: true; readonly tools: readonly Tool[]; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly errors: readonly string[] };

/** The tools of a worker by name, and the tool sources from which definitions may get more. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();
  readonly sources: ToolSources;

  constructor(tools: Iterable<Tool> = [], sources = new ToolSources()) {
    this.sources = sources;
    for (const tool of tools) this.register(tool);
  }

  register(tool: Tool): this {
    assertNotReserved(tool.name);
    if (this.#tools.has(tool.name)) throw new TypeError(`Tool "${tool.name}" is already registered`);
    this.#tools.set(tool.name, tool);
    return this;
  }

  /** Returns the tool with this exact name. */
  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  listNames(): string[] {
    return [...this.#tools.keys()];
  }

  /**
   * Resolves the names in a definition, aliases included, unless a tool has the alias as its own name. Returns each tool once,
   * in the definition's order.
   */
  resolve(names: readonly string[], options: { strict?: boolean } = {}): ToolResolution {
    const tools = new Set<Tool>();
    const problems: string[] = [];
    for (const name of names) {
      const tool = this.#tools.get(name) ?? this.#tools.get(toCanonicalName(name));
      if (tool === undefined) problems.push(this.#describeUnknown(name));
      else for (const one of [tool, ...this.#listCompanions(tool)]) tools.add(one);
    }
    if (options.strict === true && problems.length > 0) return { ok: false, errors: problems };
    return { ok: true, tools: [...tools], warnings: problems };
  }

  #listCompanions({ companions = [] }: Tool): readonly Tool[] {
    return companions.flatMap((name) => this.#tools.get(name) ?? []);
  }

  #describeUnknown(name: string): string {
    const near = findNearestName(name, [...this.#tools.keys(), ...Object.keys(TOOL_ALIASES)]);
    const known =
      this.#tools.size === 0 ? "there are no tools" : `the tools are ${this.listNames().join(", ")}`;
    return `Unknown tool "${name}": ${near === undefined ? known : `did you mean "${toCanonicalName(near)}"?`}`;
  }
}
