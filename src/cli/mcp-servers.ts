import { check } from "../schema/check.ts";
import { McpServer } from "../schema/mcp.ts";
import { agentFromFile, type Surroundings } from "./agent-file.ts";
import { positive } from "./agent-flags.ts";
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

/** The servers that a command line is about: those of an agent, or one that is described in place. */
export function serversFrom(flags: McpFlags, surroundings: Surroundings): readonly McpServer[] {
  const ways = [flags.agent, flags.command, flags.url].filter((way) => way !== undefined);
  if (ways.length !== 1) throw new UsageError("Say which server: one of --agent, --command and --url");
  if (flags.agent !== undefined) return ofAgent(flags.agent, flags.server, surroundings);
  if (flags.url !== undefined && !/^https?:\/\//.test(flags.url)) {
    throw new UsageError(`--url "${flags.url}" is not an address such as https://HOST/mcp`);
  }
  const timeoutMs = positive("--timeout", flags.timeout ?? "30") * 1000;
  const server = {
    name: flags.server ?? "server",
    transport: flags.url === undefined ? program(flags) : address(flags.url, flags),
    timeoutMs,
  };
  const checked = check(McpServer, server, "server");
  if (checked.ok) return [checked.value];
  throw new UsageError(`This is not a server that can be used: ${checked.problems.join("; ")}`);
}

function ofAgent(file: string, wanted: string | undefined, surroundings: Surroundings): readonly McpServer[] {
  const { mcp = [], name } = agentFromFile(file, surroundings).agent;
  const servers = mcp.filter((server) => wanted === undefined || server.name === wanted);
  if (servers.length > 0) return servers;
  if (mcp.length === 0) throw new UsageError(`The agent ${name} of ${file} names no MCP server ([[mcp]])`);
  const known = mcp.map((server) => server.name).join(", ");
  throw new UsageError(`The agent ${name} of ${file} has no server "${wanted}"; it has ${known}`);
}

function program({ command = "", env = [] }: McpFlags): object {
  const [first, ...args] = words(command);
  return { type: "stdio", command: first ?? "", args, env: pairs(env, "=", "--env") };
}

function address(url: string, { header = [], bearer }: McpFlags): object {
  const auth = bearer === undefined ? {} : { auth: { type: "bearer", token: `\${${bearer}}` } };
  return { type: "http", url, headers: pairs(header, ":", "--header"), ...auth };
}

/** As a shell would cut simple words: quotes keep blanks together, nothing else means anything. */
function words(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
}

function pairs(given: readonly string[], mark: string, flag: string): Record<string, string> {
  return Object.fromEntries(
    given.map((pair) => {
      const at = pair.indexOf(mark);
      if (at < 1) throw new UsageError(`${flag} ${pair}: write NAME${mark}VALUE`);
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}
