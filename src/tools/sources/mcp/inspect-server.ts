import type { McpServer } from "../../../schema/mcp.ts";
import type { PinnedTool } from "../../../schema/tool-source.ts";
import type {
  RemotePrompt,
  RemoteResource,
  RemoteResourceTemplate,
  ServerInfo,
  ToolHints,
} from "./mcp-connection.ts";
import { McpError, type McpFault } from "./mcp-error.ts";
import type { McpPool } from "./mcp-pool.ts";
import { pinTools } from "./pin-tools.ts";
import { pinResourceTools } from "./resource-tools.ts";
import type { ServerPlace } from "./server-place.ts";

/** A tool as an agent would get it, with what the server declares about its safety. */
export type InspectedTool = Omit<PinnedTool, "data"> & { readonly hints: ToolHints };

export type ServerInspection =
  | {
      readonly ok: true;
      readonly serverInfo: ServerInfo;
      readonly tools: readonly InspectedTool[];
      readonly prompts: readonly RemotePrompt[];
      readonly resources: readonly RemoteResource[];
      readonly templates: readonly RemoteResourceTemplate[];
      /** What was skipped or looks wrong, one sentence each. */
      readonly warnings: readonly string[];
      /** The time from the start of the server to its list of tools. */
      readonly startMs: number;
    }
  | { readonly ok: false; readonly fault: McpFault; readonly message: string };

/** Lists everything that a server offers, for display to a user. */
export async function inspectServer(
  server: McpServer,
  place: ServerPlace,
  pool: McpPool,
  signal: AbortSignal,
): Promise<ServerInspection> {
  try {
    const startedMs = performance.now();
    const pooled = pool.getServer(server, place);
    const { serverInfo, tools: remote } = await pooled.getListing(signal);
    const startMs = Math.round(performance.now() - startedMs);
    const { tools, warnings } = pinTools(server, remote);
    const hints = new Map(remote.map((tool) => [tool.name, tool.hints]));
    const offered = server.resources ? pinResourceTools(server) : [];
    return {
      ok: true,
      serverInfo,
      tools: [...tools, ...offered].map((tool) => ({ ...tool, hints: hints.get(tool.remote) ?? {} })),
      prompts: await pooled.run({ signal }, (connection, request) => connection.listPrompts(request)),
      resources: await pooled.run({ signal }, (connection, request) => connection.listResources(request)),
      templates: await pooled.run({ signal }, (connection, request) =>
        connection.listResourceTemplates(request),
      ),
      warnings,
      startMs,
    };
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    return { ok: false, fault: error.fault, message: error.message };
  }
}
