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
  source: ToolSourceKind.describe("The kind of the source."),
  from: z.string().describe("The source's name in the definition: of the server or the API."),
  remote: z.string().describe("The source's name for the tool."),
  name: z
    .string()
    .describe("The model's name for the tool: `^[A-Za-z0-9_-]{1,64}$`, unique among the tools of the agent."),
  description: z.string().describe("What the tool does, for the model."),
  parameters: z.record(z.string(), z.unknown()).describe("The JSON Schema of the arguments, of type object."),
  replay: ReplayClass.describe("What a second execution of a call means."),
  confirm: z.boolean().optional().describe("Whether a user must approve each call."),
  timeoutMs: z.number().int().positive().optional().describe("The limit of one call, in milliseconds."),
  hash: z
    .string()
    .describe(
      "The SHA-256, in hex, of everything that the source says about it: a different one means that it has changed.",
    ),
  data: z.unknown().optional().describe("What its source needs to run a call."),
});
export type PinnedTool = z.infer<typeof PinnedTool>;

/** What the sources of an agent's tools offered when its loop was opened. */
export const PinnedSources = z.strictObject({
  tools: z.array(PinnedTool).default([]).describe("The tools of all sources."),
  prompt: z.string().optional().describe("A text that is added after the system prompt."),
  rules: z.array(PermissionRule).optional().describe("Rules that apply after those of the definition."),
  contents: z
    .record(z.string(), z.string())
    .optional()
    .describe("The contents that the prompt refers to, by name, as SHA-256 in hex."),
});
export type PinnedSources = z.infer<typeof PinnedSources>;
