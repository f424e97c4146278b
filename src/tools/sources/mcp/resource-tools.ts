import { createHash } from "node:crypto";
import type { McpServer } from "../../../schema/mcp.ts";
import type { PinnedTool } from "../../../schema/tool-source.ts";
import type { ExecutableTool } from "../../tool.ts";
import { type ToolContext, ToolError } from "../../tool-execution.ts";
import { sanitiseText } from "../sanitise-text.ts";
import { createArgumentParser } from "./argument-parser.ts";
import type { RemoteResource, RemoteResourceTemplate } from "./mcp-connection.ts";
import { convertToToolError, describeProcesses, maskContent, toOfferedTool } from "./mcp-tool.ts";
import type { PooledServer } from "./pooled-server.ts";
import type { ToolCallOptions } from "./tool-call.ts";
import { toResourceContent } from "./tool-result.ts";

// A server's resources become two ordinary tools: one lists them, the other reads one by its URI.

export type ResourceTool = "list" | "read";

const MAX_LISTED = 200;
const MAX_LINE_CHARS = 300;

/** Creates the tools for servers whose definition specifies `resources = true`. */
export function pinResourceTools(server: McpServer): readonly PinnedTool[] {
  const { prefix = server.name } = server;
  const begin = prefix === "" ? "" : `${prefix}__`;
  const tool = (
    which: ResourceTool,
    description: string,
    parameters: Record<string, unknown>,
  ): PinnedTool => ({
    source: "mcp",
    from: server.name,
    remote: `resources/${which}`,
    name: `${begin}${which}_resource${which === "list" ? "s" : ""}`,
    description,
    parameters: { type: "object", additionalProperties: false, ...parameters },
    replay: "pure",
    hash: createHash("sha256").update(description).digest("hex"),
  });
  return [
    tool("list", `Lists the resources of the MCP server ${server.name}: their URIs and URI templates.`, {
      properties: {},
    }),
    tool("read", `Reads a resource of the MCP server ${server.name}.`, {
      properties: { uri: { type: "string", description: "The URI of the resource, as listed or given" } },
      required: ["uri"],
    }),
  ];
}

export function createResourceTool(
  pinned: PinnedTool,
  which: ResourceTool,
  server: McpServer,
  getServer: (context: Pick<ToolContext, "workspace">) => PooledServer,
): ExecutableTool {
  return {
    ...toOfferedTool(pinned, server),
    kind: "executable",
    ...describeProcesses(server),
    parse: createArgumentParser(pinned.parameters),
    execute: async (parameters, context) =>
      await convertToToolError(async () => {
        const pooled = getServer(context);
        const options = { signal: context.signal, onSandbox: context.sandbox?.note };
        if (which === "list")
          return { content: [{ type: "text", text: await listResources(pooled, options) }] };
        const { uri } = parameters as { uri: string };
        const answer = await pooled.run(options, (connection, request) =>
          connection.readResource(uri, request),
        );
        return { content: maskContent(pooled, toResourceContent(answer)) };
      }),
  };
}

async function listResources(
  pooled: PooledServer,
  options: Pick<ToolCallOptions, "signal" | "onSandbox">,
): Promise<string> {
  const { resources, templates } = await pooled.run(options, async (connection, request) => {
    if (!connection.serverInfo.capabilities.resources)
      throw new ToolError("failed", "This server has no resources");
    return {
      resources: await connection.listResources(request),
      templates: await connection.listResourceTemplates(request),
    };
  });
  const lines = [
    ...resources.map((one) => formatResource(one.uri, one)),
    ...templates.map((one) => `${formatResource(one.uriTemplate, one)} (replace the parts in braces)`),
  ];
  if (lines.length === 0) return "There are no resources.";
  const more = lines.length - MAX_LISTED;
  return [...lines.slice(0, MAX_LISTED), ...(more > 0 ? [`... and ${more} more`] : [])].join("\n");
}

function formatResource(
  address: string,
  { name, mimeType, description }: RemoteResource | Omit<RemoteResourceTemplate, "uriTemplate">,
) {
  const facts = [name === address ? "" : name, mimeType ?? "", description ?? ""].filter(
    (fact) => fact !== "",
  );
  return sanitiseText(`${address}  ${facts.join(", ")}`.replace(/\s*\n\s*/g, " ").trimEnd(), MAX_LINE_CHARS);
}
