import type { McpServer } from "../../../schema/mcp.ts";
import type { PinnedTool } from "../../../schema/outside.ts";
import type { RemotePrompt, RemoteResource, RemoteTemplate, ServerFacts, ToolHints } from "./connection.ts";
import { McpError, type McpFault } from "./error.ts";
import { offered } from "./offered.ts";
import type { McpPool } from "./pool.ts";
import { resourceTools } from "./resources.ts";

/** A tool as an agent would have it, and what the server says about its safety. */
export type SeenTool = Omit<PinnedTool, "data"> & { readonly hints: ToolHints };

export type Look =
  | {
      readonly ok: true;
      readonly facts: ServerFacts;
      readonly tools: readonly SeenTool[];
      readonly prompts: readonly RemotePrompt[];
      readonly resources: readonly RemoteResource[];
      readonly templates: readonly RemoteTemplate[];
      /** What was left out or looks wrong, a sentence each. */
      readonly warnings: readonly string[];
      /** From nothing to the list of tools. */
      readonly startMs: number;
    }
  | { readonly ok: false; readonly fault: McpFault; readonly message: string };

/** What a server offers, for people: everything that it lists. */
export async function lookAt(server: McpServer, pool: McpPool, signal: AbortSignal): Promise<Look> {
  try {
    const begun = performance.now();
    const kept = pool.server(server);
    const { facts, tools: remote } = await kept.listing(signal);
    const startMs = Math.round(performance.now() - begun);
    const { tools, warnings } = offered(server, remote);
    const hints = new Map(remote.map((tool) => [tool.name, tool.hints]));
    const own = server.resources ? resourceTools(server) : [];
    return {
      ok: true,
      facts,
      tools: [...tools, ...own].map((tool) => ({ ...tool, hints: hints.get(tool.remote) ?? {} })),
      prompts: await kept.ask(signal, (connection, request) => connection.listPrompts(request)),
      resources: await kept.ask(signal, (connection, request) => connection.listResources(request)),
      templates: await kept.ask(signal, (connection, request) => connection.listTemplates(request)),
      warnings,
      startMs,
    };
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    return { ok: false, fault: error.fault, message: error.message };
  }
}
