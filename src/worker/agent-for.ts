import type { CompactionConfigInput, ContextConfigInput } from "../schema/context.ts";
import type { AgentDefinitionInput, SubAgentInput } from "../schema/definition.ts";
import type { CommandHook, HookPoint, NamedHook } from "../schema/hooks.ts";
import type { HoldfastWorkerOptions } from "./options.ts";

/** The functions that a worker registers by name: the part of its options that definitions refer to. */
export type Registry = Pick<
  HoldfastWorkerOptions,
  | "tools"
  | "filters"
  | "hooks"
  | "transforms"
  | "converters"
  | "translations"
  | "compactions"
  | "reducers"
  | "evaluationStrategies"
  | "scorers"
>;

/** The tools of every worker that does not set `builtInTools`, and their aliases. */
export type BuiltInTool =
  | "bash"
  | "read_file"
  | "file_read"
  | "write_file"
  | "file_write"
  | "edit_file"
  | "list_files"
  | "search"
  | "prun"
  | "prun_with_memo"
  | "revert_to_state"
  | "hand_off"
  | "pause_work";

/** The built-in compaction strategies. */
export type BuiltInCompaction = "block" | "summary" | "tiered";

/** The names under which a registry has functions of one kind, such as `"filters"`; none without the kind. */
export type RegisteredName<R extends Registry, Kind extends Exclude<keyof Registry, "tools">> =
  R extends Record<Kind, infer Functions> ? Extract<keyof NonNullable<Functions>, string> : never;

/** The names of the tools of a registry; none without tools. */
export type RegisteredToolName<R extends Registry> =
  R extends Record<"tools", readonly (infer One)[]>
    ? One extends {
        /** The name of a tool. */
        readonly name: infer Name;
      }
      ? Name
      : never
    : never;

/** A hook of a definition: one of these names, alone or with settings, or a command. */
export type HookUseFor<Name extends string> =
  | Name
  | (Omit<NamedHook, "name"> & {
      /** The name under which the worker has registered the hook. */
      readonly name: Name;
    })
  | CommandHook;

/** The settings of a context, with a built-in compaction strategy or one of a registry. */
export type ContextFor<R extends Registry> = Omit<ContextConfigInput, "compaction"> & {
  /** When and how the context is made smaller. */
  readonly compaction?: Omit<CompactionConfigInput, "strategy"> & {
    /** How it is made smaller. */
    readonly strategy?: BuiltInCompaction | RegisteredName<R, "compactions">;
  };
};

/**
 * A definition whose names are all in a registry, or built in: `const agent = { … } satisfies AgentFor<typeof registry>`. The
 * type checker then rejects the name of a tool, hook, filter, transform, converter or compaction strategy that no worker with
 * these options has. Tools of MCP servers, APIs and skills are not named in `tools`.
 */
export type AgentFor<R extends Registry> = Omit<
  AgentDefinitionInput,
  | "tools"
  | "inputFilters"
  | "hooks"
  | "transformContext"
  | "convertToLlm"
  | "contextTranslation"
  | "context"
  | "subAgents"
> & {
  /** The names of built-in tools and of the worker's own. */
  readonly tools?: (BuiltInTool | RegisteredToolName<R>)[];
  /** The names of the worker's input filters. */
  readonly inputFilters?: RegisteredName<R, "filters">[];
  /** Hooks by point, with the names of the worker's own. */
  readonly hooks?: { readonly [Point in HookPoint]?: HookUseFor<RegisteredName<R, "hooks">>[] };
  /** The names of the worker's context transforms. */
  readonly transformContext?: RegisteredName<R, "transforms">[];
  /** The name of one of the worker's context converters. */
  readonly convertToLlm?: RegisteredName<R, "converters"> | null;
  /** The name of one of the worker's context translations. */
  readonly contextTranslation?: "default" | RegisteredName<R, "translations"> | null;
  /** When and how the context is made smaller, by a built-in strategy or one of the worker's own. */
  readonly context?: ContextFor<R> | null;
  /** The sub-agents, which are checked in the same way. */
  readonly subAgents?: (Omit<SubAgentInput, "agent"> & {
    /** The definition of the sub-agent. */
    readonly agent: AgentFor<R>;
  })[];
};
