/**
 * Defines tools. It loads no worker, so that a package of tools can import it.
 *
 * @module tool
 */

import { z } from "zod";
import { ACTIVITY_NAMES } from "../core/machine/activity-names.ts";
import type { TeamAction } from "../core/machine/added-tools.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { SandboxMode } from "../schema/sandbox.ts";
import type { ReplayClass, ToolDefinition } from "../schema/tool.ts";
import type { ToolContext, ToolOutput } from "./tool-execution.ts";

export type { SpawnedGroup } from "../platform/process/process-group.ts";
export type { Content, FileContent, ImageContent, TextContent } from "../schema/message.ts";
export type { SandboxMode } from "../schema/sandbox.ts";
export type { ReplayClass, ToolDefinition } from "../schema/tool.ts";
export type { AskUser, UserAnswer, UserQuestion, UserValues } from "../schema/user-question.ts";
export {
  type CallMemo,
  type CommandResult,
  type CommandSpec,
  type EarlierResult,
  type LoopEnding,
  type RunCommand,
  type ToolContext,
  ToolError,
  type ToolFault,
  type ToolOutput,
} from "./tool-execution.ts";
export type { TeamAction };

/** Paths in the form that the workspace's tools accept: relative to the workspace, or absolute. */
export type TouchedResources = {
  /** The files and folders that the call reads or writes. */
  readonly paths?: readonly string[];
  /** The shell command that the call runs. */
  readonly command?: string;
  /** Hosts that the call reaches: URLs, or `host` and `host:port`. */
  readonly hosts?: readonly string[];
  /** The working directory of the command, within the workspace; the workspace itself by default. */
  readonly cwd?: string;
};

/** The checked arguments of a call, or what is wrong with them. */
export type ParsedArguments =
  | {
      readonly ok: true;
      /** The arguments, with defaults and transforms applied. */
      readonly value: unknown;
    }
  /** Names the field, the value found and the value expected, for the model. */
  | {
      readonly ok: false;
      /** What is wrong, for the model. */
      readonly message: string;
    };

/** What a model, a permission policy and the record need to know about a tool, whatever executes its calls. */
export type OfferedTool = {
  /** The name by which the model calls the tool. */
  readonly name: string;
  /** Other names by which a model may call the tool, if they fit no other tool of the agent. */
  readonly aliases?: readonly string[] | undefined;
  /** The display name. */
  readonly label: string;
  /** What the tool does, for the model. */
  readonly description: string;
  /** JSON Schema of type object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** What a second execution of a call means. */
  readonly replay: ReplayClass;
  /** The tool ends well within two seconds or when cancelled, and leaves nothing running: it may run as a local activity. */
  readonly quick: boolean;
  /** Absent: the worker's default. */
  readonly timeoutMs?: number | undefined;
  /** Summarizes one call for a timeline, such as by its command. The caller limits and redacts the text. */
  readonly summarise: (input: unknown) => string;
  /** Returns the resources that a call will touch, for the permission policy; nothing for tools that touch none. */
  readonly touches: (input: unknown) => TouchedResources;
  /** Whether the user must approve each call that no permission rule allows. */
  readonly needsApproval: boolean;
  /** Tools that are offered together with this one. */
  readonly companions?: readonly string[];
  /** Checks the arguments of a call. */
  readonly parse: (input: unknown) => ParsedArguments;
};

/** A tool that a worker executes. Create it with `defineTool`. */
export type ExecutableTool = OfferedTool & {
  readonly kind: "executable";
  /** Marks the tools by which an autonomous agent decides its next round. The call's digest carries the value. */
  readonly nextRound?: "done" | "sleep";
  /**
   * Whether calls start processes: in the session's sandbox, or in that mode whatever the session's is. Absent: they start
   * none. A session whose sandbox the worker's host cannot make is not started with a tool that needs it.
   */
  readonly processes?: "sandboxed" | SandboxMode | undefined;
  /** Rejects with a `ToolError`. The model receives any other error as "failed". */
  readonly execute: (input: unknown, context: ToolContext) => Promise<ToolOutput>;
};

/** A built-in tool that changes or reads the model's view. The worker answers its calls from the view itself. */
export type ViewTool = OfferedTool & {
  readonly kind: "view";
  /** What the tool does to the view. */
  readonly action: "prune" | "revert" | "read";
};

/** A built-in tool of a team's lead. The job that the lead works for answers its calls. */
export type TeamTool = OfferedTool & {
  readonly kind: "team";
  /** What the tool does to the team. */
  readonly action: TeamAction;
};

/** A sub-agent: each call is a run of its own. */
export type AgentTool = OfferedTool & { readonly kind: "agent" };

/** Any tool that a worker has. */
export type Tool = ExecutableTool | ViewTool | TeamTool | AgentTool;

/** The declaration of an offered tool; see `OfferedTool`. */
export type OfferedToolSpec<Schema extends z.ZodObject> = {
  /** The name by which the model calls it: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  /** Other names by which a model may call the tool, if they fit no other tool of the agent. */
  readonly aliases?: readonly string[];
  /** The display name; `name` by default. */
  readonly label?: string;
  /** What the tool does, and when to use it, for the model. */
  readonly description: string;
  /** The schema of the arguments: the model reads it, and the arguments of each call are checked against it. */
  readonly inputSchema: Schema;
  /** Whether a second execution is safe; `unsafe` by default. */
  readonly replay?: ReplayClass;
  /** Allowed only for `pure` tools that end within two seconds. */
  readonly quick?: boolean;
  /** The limit of one call, in milliseconds; the worker's default if absent. */
  readonly timeoutMs?: number;
  /** Returns a short text for a call, for a timeline, such as its command. */
  readonly summarise?: (input: z.infer<Schema>) => string;
  /** Returns the paths, hosts and shell command of a call, which permission rules can match. */
  readonly touches?: (input: z.infer<Schema>) => TouchedResources;
  /** Whether the user must approve each call that no permission rule allows; `false` by default. */
  readonly needsApproval?: boolean;
};

/** The declaration of a tool that a worker executes. */
export type ToolSpec<Schema extends z.ZodObject> = OfferedToolSpec<Schema> & {
  /** `sandboxed` for a tool that calls `runCommand` of its context; absent for one that does not. */
  readonly processes?: ExecutableTool["processes"];
  /** Executes one call. A string is the text of the result; a rejection is an error result for the model. */
  readonly execute: (
    input: z.infer<Schema>,
    context: ToolContext,
  ) => Promise<ToolOutput | string> | ToolOutput | string;
};

/** Names of Holdfast's own activities, which no tool may have. "hook" was one, and stays reserved. */
export const RESERVED_TOOL_NAMES: readonly string[] = [...ACTIVITY_NAMES, "hook"];

/** Throws a `TypeError` if Holdfast itself uses the name. */
export function assertNotReserved(name: string): void {
  if (!RESERVED_TOOL_NAMES.includes(name)) return;
  throw new TypeError(`Tool name "${name}" is taken by Holdfast; choose another`);
}

/** Creates a tool that a worker executes. Throws a `TypeError` if the spec is invalid. */
export function defineTool<Schema extends z.ZodObject, const Name extends string = string>(
  spec: ToolSpec<Schema> & { readonly name: Name },
): ExecutableTool & { readonly name: Name } {
  return {
    ...defineOfferedTool(spec),
    name: spec.name,
    kind: "executable",
    ...omitUndefined({ processes: spec.processes }),
    execute: async (value, context) => {
      const output = await spec.execute(value as z.infer<Schema>, context);
      return typeof output === "string" ? { content: [{ type: "text", text: output }] } : output;
    },
  };
}

/** Creates the part that all kinds of tools share. Throws a `TypeError` if the spec is invalid. */
export function defineOfferedTool<Schema extends z.ZodObject>(spec: OfferedToolSpec<Schema>): OfferedTool {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(spec.name)) {
    throw new TypeError(`Tool name "${spec.name}": use 1 to 64 letters, digits, "_" and "-"`);
  }
  assertNotReserved(spec.name);
  const replay = spec.replay ?? "unsafe";
  if (spec.quick === true && replay !== "pure") {
    throw new TypeError(`Tool "${spec.name}" is ${replay}: only a pure tool may be quick`);
  }
  const { $schema: _, ...parameters } = z.toJSONSchema(spec.inputSchema, { io: "input" }) as Record<
    string,
    unknown
  >;
  return {
    name: spec.name,
    ...omitUndefined({ aliases: spec.aliases }),
    label: spec.label ?? spec.name,
    description: spec.description,
    parameters,
    replay,
    quick: spec.quick ?? false,
    timeoutMs: spec.timeoutMs,
    touches: (value) => spec.touches?.(value as z.infer<Schema>) ?? {},
    needsApproval: spec.needsApproval ?? false,
    summarise: (value) => spec.summarise?.(value as z.infer<Schema>) ?? "",
    parse: (value) => {
      const parsed = spec.inputSchema.safeParse(value);
      return parsed.success
        ? { ok: true, value: parsed.data }
        : { ok: false, message: describeIssues(parsed.error) };
    },
  };
}

/** Returns what a model reads about a tool. */
export function toToolDefinition(tool: OfferedTool): ToolDefinition {
  return { name: tool.name, description: tool.description, parameters: { ...tool.parameters } };
}

function describeIssues(error: z.ZodError): string {
  return error.issues
    .map((issue) => `${issue.path.length === 0 ? "arguments" : issue.path.join(".")}: ${issue.message}`)
    .join("; ");
}
