import { createHash } from "node:crypto";
import type { McpServer } from "../../../schema/mcp.ts";
import type { PinnedTool } from "../../../schema/outside.ts";
import { type ExecutableTool, ToolError } from "../../tool.ts";
import { plainText } from "../plain-text.ts";
import { argumentCheck } from "./arguments.ts";
import type { RemoteResource, RemoteTemplate } from "./connection.ts";
import type { KeptServer } from "./kept-server.ts";
import { contentsOf } from "./result.ts";
import { hidden, shell, toldAsTool } from "./tools.ts";

// A server's resources are read as any other tool reads: one tool lists them, one gives what is at an address.

export type ResourceTool = "list" | "read";

const MAX_LISTED = 200;
const MAX_LINE_CHARS = 300;

/** For servers whose definition says `resources = true`. */
export function resourceTools(server: McpServer): readonly PinnedTool[] {
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
    tool("list", `Lists what can be read of ${server.name}: addresses, and patterns of addresses.`, {
      properties: {},
    }),
    tool("read", `Reads a resource of ${server.name}.`, {
      properties: { uri: { type: "string", description: "The address, as it was listed or given" } },
      required: ["uri"],
    }),
  ];
}

export function resourceTool(
  pinned: PinnedTool,
  which: ResourceTool,
  server: McpServer,
  keep: () => KeptServer,
): ExecutableTool {
  return {
    ...shell(pinned, server),
    kind: "executable",
    parse: argumentCheck(pinned.parameters),
    execute: async (parameters, { signal }) =>
      await toldAsTool(async () => {
        if (which === "list") return { content: [{ type: "text", text: await listed(keep(), signal) }] };
        const { uri } = parameters as { uri: string };
        const answer = await keep().ask(signal, (connection, request) =>
          connection.readResource(uri, request),
        );
        return { content: hidden(keep(), contentsOf(answer)) };
      }),
  };
}

async function listed(kept: KeptServer, signal: AbortSignal): Promise<string> {
  const { resources, templates } = await kept.ask(signal, async (connection, request) => {
    if (!connection.facts.offers.resources) throw new ToolError("failed", "This server has no resources");
    return {
      resources: await connection.listResources(request),
      templates: await connection.listTemplates(request),
    };
  });
  const lines = [
    ...resources.map((one) => line(one.uri, one)),
    ...templates.map((one) => `${line(one.uriTemplate, one)} (fill in what is in braces)`),
  ];
  if (lines.length === 0) return "There are no resources.";
  const more = lines.length - MAX_LISTED;
  return [...lines.slice(0, MAX_LISTED), ...(more > 0 ? [`... and ${more} more`] : [])].join("\n");
}

function line(
  address: string,
  { name, mimeType, description }: RemoteResource | Omit<RemoteTemplate, "uriTemplate">,
) {
  const facts = [name === address ? "" : name, mimeType ?? "", description ?? ""].filter(
    (fact) => fact !== "",
  );
  return plainText(`${address}  ${facts.join(", ")}`.replace(/\s*\n\s*/g, " ").trimEnd(), MAX_LINE_CHARS);
}
