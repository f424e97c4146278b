import { z } from "zod";
import { PermissionRule } from "./permission.ts";
import { ReplayClass } from "./tool.ts";

// What an agent has of sources outside of its worker (MCP servers, OpenAPI operations, skills), as it was when its loop
// was opened.

export const ToolSourceKind = z.enum(["mcp", "openapi", "skills"]);
export type ToolSourceKind = z.infer<typeof ToolSourceKind>;

/** A tool of an outside source, as a run is pinned to it. */
export const PinnedTool = z.strictObject({
  source: ToolSourceKind,
  /** The source's name in the definition: of the server, of the API. */
  from: z.string(),
  /** What the source calls it. */
  remote: z.string(),
  /** What the model calls it: `^[A-Za-z0-9_-]{1,64}$`, unique among the tools of the agent. */
  name: z.string(),
  description: z.string(),
  /** JSON Schema of type object. */
  parameters: z.record(z.string(), z.unknown()),
  replay: ReplayClass,
  confirm: z.boolean().optional(),
  timeoutMs: z.number().int().positive().optional(),
  /** Of all that the source says of it, SHA-256 in hex: another one means that it has changed. */
  hash: z.string(),
  /** What its source needs to carry a call out. */
  data: z.unknown().optional(),
});
export type PinnedTool = z.infer<typeof PinnedTool>;

export const PinnedSources = z.strictObject({
  tools: z.array(PinnedTool).default([]),
  /** Said behind the system prompt. */
  prompt: z.string().optional(),
  /** Asked behind the rules of the definition. */
  rules: z.array(PermissionRule).optional(),
  /** Of what the prompt speaks of, by name, as SHA-256 in hex. */
  contents: z.record(z.string(), z.string()).optional(),
});
export type PinnedSources = z.infer<typeof PinnedSources>;
