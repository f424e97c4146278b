import { z } from "zod";
import { ACTIVITY_NAMES } from "../core/machine/activity-names.ts";
import type { SpawnedGroup } from "../platform/process/process-group.ts";
import type { ImageContent, TextContent } from "../schema/message.ts";
import type { ReplayClass, ToolDefinition } from "../schema/tool.ts";
import type { AskUser } from "../schema/user-question.ts";
import type { TeamAction } from "./builtin/team-tools.ts";

export type { SpawnedGroup };

export type ToolOutput = {
  /** What the model sees. */
  readonly content: readonly (TextContent | ImageContent)[];
  /** For people and programs; never sent to a model. */
  readonly details?: unknown;
  /** Of a tool that has run another agent: the loop in which it did so. At most 512 bytes. */
  readonly childLoopId?: string;
};

export type ToolContext = {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The folder that file and shell tools work in. Absolute. */
  readonly workspace: string;
  /** The same for every execution of this call; give it to the outside when the tool is `idempotent`. */
  readonly idempotencyKey: string;
  /** The loop that the call belongs to. */
  readonly loopId?: string | undefined;
  readonly signal: AbortSignal;
  /** Partial output for whoever watches: text that adds to what was given before. Never seen by the model. */
  readonly onUpdate: (text: string) => void;
  /** One line of progress for whoever watches. */
  readonly onProgress: (text: string) => void;
  /** To be awaited before a spawned process is relied on: whoever takes over must be able to end it. */
  readonly onSpawned: (group: SpawnedGroup) => Promise<void>;
  /**
   * A short note that outlives the worker and is given to the next execution of the same call, for tools that
   * are idempotent by what they find. Absent where nothing keeps it.
   */
  readonly memo?: CallMemo | undefined;
  /**
   * Asks a person. Where nobody has answered yet it rejects, `signal` ends, and the call is made again with the answer,
   * under another `buildIdempotencyKey`. Absent where nobody can be asked.
   */
  readonly ask?: AskUser | undefined;
};

export type CallMemo = {
  readonly get: () => Promise<string | undefined>;
  /** Durable once it has resolved. */
  readonly set: (text: string) => Promise<void>;
};

export type ToolFault = "failed" | "not-found" | "invalid-arguments" | "cancelled";

/** An outcome of a tool that the model is told of as an error result. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly fault: ToolFault;

  constructor(fault: ToolFault, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.fault = fault;
  }
}

/** Paths are as the workspace's tools take them: below the workspace, or absolute. */
export type TouchedResources = {
  readonly paths?: readonly string[];
  readonly command?: string;
  /** Hosts that the call reaches: addresses, or `host` and `host:port`. */
  readonly hosts?: readonly string[];
  /** Where the command runs, below the workspace; the workspace itself unless said. */
  readonly cwd?: string;
};

export type ParsedArguments =
  | { readonly ok: true; readonly value: unknown }
  /** Names the field, what was found and what is expected. For the model. */
  | { readonly ok: false; readonly message: string };

/** What a model, a policy and the record must know of a tool, whoever answers its calls. */
export type OfferedTool = {
  readonly name: string;
  /** Other names that a model may call it by, where no other tool of the agent fits them. */
  readonly aliases?: readonly string[] | undefined;
  readonly label: string;
  readonly description: string;
  /** JSON Schema of type object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly replay: ReplayClass;
  /** Ends well within two seconds, or at once when cancelled, and leaves nothing behind: may run as a local activity. */
  readonly quick: boolean;
  /** Absent: the worker's default. */
  readonly timeoutMs?: number | undefined;
  /** A few words on one call for a timeline, such as the command. Bounded and redacted by the caller. */
  readonly summarise: (parameters: unknown) => string;
  /** What a call is about to touch, for the permission policy; nothing for tools that touch neither. */
  readonly touches: (parameters: unknown) => TouchedResources;
  /** A person is asked before each call, unless a rule of the policy allows it. */
  readonly confirm: boolean;
  /** Tools that are offered together with this one. */
  readonly together?: readonly string[];
  readonly parse: (parameters: unknown) => ParsedArguments;
};

/** A tool that a worker executes. Made by `defineTool`. */
export type ExecutableTool = OfferedTool & {
  readonly kind: "executable";
  /** Tools of our own by which an agent that works by itself says how its work goes on; the call's digest tells it. */
  readonly rest?: "done" | "sleep";
  /** Rejects with a `ToolError`; anything else that it throws is told to the model as "failed". */
  readonly execute: (parameters: unknown, context: ToolContext) => Promise<ToolOutput>;
};

/** A tool of ours about what the model sees: its calls are answered from the view itself. */
export type ViewTool = OfferedTool & { readonly kind: "view"; readonly act: "prune" | "revert" | "read" };

/** A tool of ours about the agents of a lead: the job that the lead works for answers its calls. */
export type TeamTool = OfferedTool & { readonly kind: "team"; readonly act: TeamAction };

/** A sub-agent: each call is a run of its own. */
export type AgentTool = OfferedTool & { readonly kind: "agent" };

/** A tool as the worker holds it. */
export type Tool = ExecutableTool | ViewTool | TeamTool | AgentTool;

/** How a tool is offered; see `OfferedTool`. */
export type OfferedToolSpec<Schema extends z.ZodObject> = {
  /** What the model calls it: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  /** Other names that a model may call it by, where no other tool of the agent fits them. */
  readonly aliases?: readonly string[];
  readonly label?: string;
  readonly description: string;
  readonly parameters: Schema;
  /** What a second execution means; `unsafe` unless said. */
  readonly replay?: ReplayClass;
  /** Only for `pure` tools that end within two seconds. */
  readonly quick?: boolean;
  readonly timeoutMs?: number;
  readonly summarise?: (parameters: z.infer<Schema>) => string;
  /** Paths, hosts and shell command of a call, which rules of a permission policy may be about. */
  readonly touches?: (parameters: z.infer<Schema>) => TouchedResources;
  /** Ask a person before each call. */
  readonly confirm?: boolean;
};

export type ToolSpec<Schema extends z.ZodObject> = OfferedToolSpec<Schema> & {
  readonly execute: (
    parameters: z.infer<Schema>,
    context: ToolContext,
  ) => Promise<ToolOutput | string> | ToolOutput | string;
};

/** A tool of one of these names would be taken for an activity of ours. "hook" was one, and stays free for one. */
export const RESERVED_TOOL_NAMES: readonly string[] = [...ACTIVITY_NAMES, "hook"];

export function assertNotReserved(name: string): void {
  if (!RESERVED_TOOL_NAMES.includes(name)) return;
  throw new TypeError(`Tool name "${name}" is taken by Holdfast; choose another`);
}

/** Throws a `TypeError` for a spec that cannot be. */
export function defineTool<Schema extends z.ZodObject>(spec: ToolSpec<Schema>): ExecutableTool {
  return {
    ...defineOfferedTool(spec),
    kind: "executable",
    execute: async (value, context) => {
      const output = await spec.execute(value as z.infer<Schema>, context);
      return typeof output === "string" ? { content: [{ type: "text", text: output }] } : output;
    },
  };
}

/** The part of a tool that is the same whoever answers its calls. Throws a `TypeError` for a spec that cannot be. */
export function defineOfferedTool<Schema extends z.ZodObject>(spec: OfferedToolSpec<Schema>): OfferedTool {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(spec.name)) {
    throw new TypeError(`Tool name "${spec.name}": use 1 to 64 letters, digits, "_" and "-"`);
  }
  assertNotReserved(spec.name);
  const replay = spec.replay ?? "unsafe";
  if (spec.quick === true && replay !== "pure") {
    throw new TypeError(`Tool "${spec.name}" is ${replay}: only a pure tool may be quick`);
  }
  const { $schema: _, ...parameters } = z.toJSONSchema(spec.parameters, { io: "input" }) as Record<
    string,
    unknown
  >;
  return {
    name: spec.name,
    ...(spec.aliases === undefined ? {} : { aliases: spec.aliases }),
    label: spec.label ?? spec.name,
    description: spec.description,
    parameters,
    replay,
    quick: spec.quick ?? false,
    timeoutMs: spec.timeoutMs,
    touches: (value) => spec.touches?.(value as z.infer<Schema>) ?? {},
    confirm: spec.confirm ?? false,
    summarise: (value) => spec.summarise?.(value as z.infer<Schema>) ?? "",
    parse: (value) => {
      const parsed = spec.parameters.safeParse(value);
      return parsed.success
        ? { ok: true, value: parsed.data }
        : { ok: false, message: describeIssues(parsed.error) };
    },
  };
}

export function toToolDefinition(tool: OfferedTool): ToolDefinition {
  return { name: tool.name, description: tool.description, parameters: { ...tool.parameters } };
}

function describeIssues(error: z.ZodError): string {
  return error.issues
    .map((issue) => `${issue.path.length === 0 ? "arguments" : issue.path.join(".")}: ${issue.message}`)
    .join("; ");
}
