import { z } from "zod";
import { PermissionRule } from "./permission.ts";
import { ReplayClass } from "./tool.ts";

// What the tool sources of an agent (MCP servers, OpenAPI operations, skills) offered when its
// loop was opened.

/** The kind of a source of tools. */
export const ToolSourceKind = z.enum(["mcp", "openapi", "skills"]);
export type ToolSourceKind = z.infer<typeof ToolSourceKind>;

/** A tool of a source, as a run is pinned to it. */
export const PinnedTool = z.strictObject({
  /** The kind of the source. */
  source: ToolSourceKind,
  /** The source's name in the definition: of the server or the API. */
  from: z.string(),
  /** The source's name for the tool. */
  remote: z.string(),
  /** The model's name for the tool: `^[A-Za-z0-9_-]{1,64}$`, unique among the tools of the agent. */
  name: z.string(),
  /** What the tool does, for the model. */
  description: z.string(),
  /** JSON Schema of type object. */
  parameters: z.record(z.string(), z.unknown()),
  /** What a second execution of a call means. */
  replay: ReplayClass,
  /** Whether a user must approve each call. */
  confirm: z.boolean().optional(),
  /** The limit of one call, in milliseconds. */
  timeoutMs: z.number().int().positive().optional(),
  /** The SHA-256, in hex, of everything that the source says about it: a different one means that it has changed. */
  hash: z.string(),
  /** What its source needs to run a call. */
  data: z.unknown().optional(),
});
export type PinnedTool = z.infer<typeof PinnedTool>;

/** What the sources of an agent's tools offered when its loop was opened. */
export const PinnedSources = z.strictObject({
  /** The tools of all sources. */
  tools: z.array(PinnedTool).default([]),
  /** Added after the system prompt. */
  prompt: z.string().optional(),
  /** Applied after the rules of the definition. */
  rules: z.array(PermissionRule).optional(),
  /** The contents that the prompt refers to, by name, as SHA-256 in hex. */
  contents: z.record(z.string(), z.string()).optional(),
});
export type PinnedSources = z.infer<typeof PinnedSources>;
