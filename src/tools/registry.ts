import { TOOL_ALIASES } from "../core/machine/tool-aliases.ts";
import { nearestName } from "../platform/text/nearest-name.ts";
import { canonicalName } from "./aliases.ts";
import { ToolSources } from "./sources/sources.ts";
import { checkNotReserved, type Tool } from "./tool.ts";

export type Resolution =
  /** `warnings` name what was left out, a sentence each. */
  | { readonly ok: true; readonly tools: readonly Tool[]; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly errors: readonly string[] };

/** The tools that a worker has, by name, and the sources that definitions may have more of. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();
  readonly outside: ToolSources;

  constructor(tools: Iterable<Tool> = [], outside = new ToolSources()) {
    this.outside = outside;
    for (const tool of tools) this.register(tool);
  }

  register(tool: Tool): this {
    if (canonicalName(tool.name) !== tool.name) {
      throw new TypeError(
        `Tool name "${tool.name}" is an alias of "${canonicalName(tool.name)}"; choose another`,
      );
    }
    checkNotReserved(tool.name);
    if (this.#tools.has(tool.name)) throw new TypeError(`Tool "${tool.name}" is registered already`);
    this.#tools.set(tool.name, tool);
    return this;
  }

  /** By exact name, as a model calls it. */
  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  names(): string[] {
    return [...this.#tools.keys()];
  }

  /** The tools that a definition names, aliases included, each once and in its order. */
  resolve(names: readonly string[], options: { strict?: boolean } = {}): Resolution {
    const tools = new Set<Tool>();
    const problems: string[] = [];
    for (const name of names) {
      const tool = this.#tools.get(canonicalName(name));
      if (tool === undefined) problems.push(this.#describeUnknown(name));
      else for (const one of [tool, ...this.#offeredWith(tool)]) tools.add(one);
    }
    if (options.strict === true && problems.length > 0) return { ok: false, errors: problems };
    return { ok: true, tools: [...tools], warnings: problems };
  }

  #offeredWith({ together = [] }: Tool): readonly Tool[] {
    return together.flatMap((name) => this.#tools.get(name) ?? []);
  }

  #describeUnknown(name: string): string {
    const near = nearestName(name, [...this.#tools.keys(), ...Object.keys(TOOL_ALIASES)]);
    const known = this.#tools.size === 0 ? "there are no tools" : `the tools are ${this.names().join(", ")}`;
    return `Unknown tool "${name}": ${near === undefined ? known : `did you mean "${canonicalName(near)}"?`}`;
  }
}
