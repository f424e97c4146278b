import { z } from "zod";
import { matchesNetworkRule, parseDestination, parseNetworkRule } from "../../platform/text/network-rule.ts";
import { defineTool, type ExecutableTool } from "../tool.ts";
import { ToolError } from "../tool-execution.ts";

export const ALLOW_HOST_TOOL = "allow_host";

/**
 * Creates the tool that asks the user to let commands of the session connect to a host. Its result in the conversation is the
 * permission: a fork has the permissions of its branch, and a crash loses none.
 */
export function createAllowHostTool(): ExecutableTool {
  return defineTool({
    name: ALLOW_HOST_TOOL,
    label: "Allow a host",
    description:
      "Asks the user to let commands in the sandbox connect to one host for the rest of the session. Call it when a command " +
      "reports that a connection needs the user's approval, and run the command again afterwards.",
    inputSchema: z.object({
      host: z.string().min(1).max(253).describe("The name or address of the host"),
      port: z.number().int().min(1).max(65_535).default(443),
      reason: z.string().max(500).describe("What the connection is for; the user reads it"),
    }),
    replay: "pure",
    needsApproval: true,
    touches: ({ host, port }) => ({ hosts: [formatPlace(host, port)] }),
    summarise: ({ host, port, reason }) => `${formatPlace(host, port)}: ${reason}`,
    execute({ host, port }, { sandbox }) {
      const text = formatPlace(host, port);
      const destination = parseDestination(text);
      if (destination === undefined) throw new ToolError("failed", `${text} is not a host and a port`);
      const rules = (sandbox?.ask ?? []).flatMap((rule) => parseNetworkRule(rule) ?? []);
      if (!rules.some((rule) => matchesNetworkRule(rule, destination))) {
        throw new ToolError("failed", `${text} cannot be allowed: sandbox.network.ask does not list it`);
      }
      return {
        content: [{ type: "text", text: `Commands may connect to ${text} from now on.` }],
        details: { destination: text },
      };
    },
  });
}

function formatPlace(host: string, port: number): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]:${port}` : `${host}:${port}`;
}
