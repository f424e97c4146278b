import { check } from "../../schema/check.ts";
import { McpServer } from "../../schema/mcp.ts";
import type { SandboxSettings } from "../../schema/sandbox.ts";
import { type AgentFileContext, loadAgentFile } from "./agent-file.ts";
import { parsePositiveNumber } from "./parse-number.ts";
import type { UntrustedFlag } from "./untrusted-flag.ts";
import { UsageError } from "./usage-error.ts";

export type McpFlags = UntrustedFlag & {
  readonly agent?: string;
  readonly command?: string;
  readonly url?: string;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly bearer?: string;
  readonly server?: string;
  readonly timeout?: string;
};

/** Servers, and what applies to the sandboxes of their processes. */
export type ChosenServers = {
  readonly servers: readonly McpServer[];
  /** The agent's settings; absent if it states none. */
  readonly sandbox?: SandboxSettings | undefined;
  /** The agent's folder; absent if it states none. */
  readonly workspace?: string | undefined;
};

/** Returns the servers of an agent file, or the one that the flags describe. */
export function parseMcpServers(flags: McpFlags, fileContext: AgentFileContext): ChosenServers {
  const ways = [flags.agent, flags.command, flags.url].filter((way) => way !== undefined);
  if (ways.length !== 1)
    throw new UsageError("No single server is specified. Give exactly one of --agent, --command and --url");
  if (flags.agent !== undefined) return loadAgentServers(flags.agent, flags.server, fileContext);
  if (flags.url !== undefined && !/^https?:\/\//.test(flags.url)) {
    throw new UsageError(`--url "${flags.url}" is not an address such as https://HOST/mcp`);
  }
  const timeoutMs = parsePositiveNumber("--timeout", flags.timeout ?? "30") * 1000;
  const server = {
    name: flags.server ?? "server",
    transport: flags.url === undefined ? buildStdioTransport(flags) : buildHttpTransport(flags.url, flags),
    timeoutMs,
  };
  const checked = check(McpServer, server, "server");
  if (checked.ok) return { servers: [checked.value] };
  throw new UsageError(`The flags do not describe a valid MCP server: ${checked.problems.join("; ")}`);
}

function loadAgentServers(
  file: string,
  serverName: string | undefined,
  fileContext: AgentFileContext,
): ChosenServers {
  const { mcp = [], name, sandbox, workspace } = loadAgentFile(file, fileContext).agent;
  const servers = mcp.filter((server) => serverName === undefined || server.name === serverName);
  if (servers.length > 0) return { servers, sandbox, workspace };
  if (mcp.length === 0)
    throw new UsageError(`The agent ${name} of ${file} has no MCP servers. Add an [[mcp]] section`);
  const known = mcp.map((server) => server.name).join(", ");
  throw new UsageError(`The agent ${name} of ${file} has no server "${serverName}"; it has ${known}`);
}

function buildStdioTransport({ command = "", env = [] }: McpFlags): object {
  const [first, ...args] = splitCommandLine(command);
  return { type: "stdio", command: first ?? "", args, env: parsePairs(env, "=", "--env") };
}

function buildHttpTransport(url: string, { header = [], bearer }: McpFlags): object {
  const auth = bearer === undefined ? {} : { auth: { type: "bearer", token: `\${${bearer}}` } };
  return { type: "http", url, headers: parsePairs(header, ":", "--header"), ...auth };
}

/** Splits a line into words as a shell does; only quotes have a special meaning. */
function splitCommandLine(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
}

function parsePairs(values: readonly string[], separator: string, flag: string): Record<string, string> {
  return Object.fromEntries(
    values.map((pair) => {
      const at = pair.indexOf(separator);
      if (at < 1) throw new UsageError(`${flag} ${pair}: write NAME${separator}VALUE`);
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}
