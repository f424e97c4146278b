import type { Command } from "commander";
import { resolveHome } from "../../../config/home.ts";
import { readSandbox } from "../../../config/sandbox.ts";
import type { SandboxSettings } from "../../../schema/sandbox.ts";
import { Sandboxes } from "../../../tools/sandbox/sandboxes.ts";
import { inspectServer, type ServerInspection } from "../../../tools/sources/mcp/inspect-server.ts";
import { McpPool } from "../../../tools/sources/mcp/mcp-pool.ts";
import { getOwnSandbox } from "../../../tools/sources/mcp/server-place.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { importMcpServers, type McpImportFlags } from "../mcp-import.ts";
import { type McpFlags, parseMcpServers } from "../mcp-servers.ts";
import { formatServer, formatServerCheck } from "../mcp-view.ts";
import { readPackageVersion } from "../package-version.ts";
import { readTrust, UNTRUSTED } from "../untrusted-flag.ts";
import { UsageError } from "../usage-error.ts";

export function configureMcpCommand(mcp: Command, runAction: RunAction): void {
  mcp.addHelpText(
    "after",
    `
Examples:
  $ holdfast mcp import .mcp.json --into agent.toml
  $ holdfast mcp list --agent agent.toml
  $ holdfast mcp test --command "npx -y @modelcontextprotocol/server-filesystem ."`,
  );
  configureImport(mcp, runAction);
  const collect = (value: string, values: readonly string[] = []): readonly string[] => [...values, value];
  const withFlags = (command: Command): Command =>
    command
      .option("-a, --agent <file>", "the servers of an agent file, or of FILE#NAME")
      .option(...UNTRUSTED)
      .option(
        "--server <name>",
        "only this server of the file; otherwise a name for the server that the flags describe",
      )
      .option("--command <line>", "a program that serves MCP over its standard input and output")
      .option(
        "--env <name=value>",
        "a variable for the program; VALUE may be ${VARIABLE}; repeatable",
        collect,
      )
      .option("--url <address>", "the URL of a streamable HTTP server")
      .option(
        "--header <name:value>",
        "a header of each request; VALUE may be ${VARIABLE}; repeatable",
        collect,
      )
      .option("--bearer <variable>", "the environment variable that holds a bearer token")
      .option(
        "--timeout <seconds>",
        "how long to wait for a response of a server that the flags describe (default: 30)",
      );
  withFlags(mcp.command("list").description("List tools, prompts and resources as an agent sees them"))
    .addHelpText(
      "after",
      `
REPLAY is the effect of a second execution (docs/crash-contract.md). IT SAYS is the server's own statement, which counts
only when the definition has trusted = true. HASH changes when the server changes its description of the tool.

Examples:
  $ holdfast mcp list --agent agent.toml#reviewer --server files
  $ holdfast mcp list --url https://mcp.example.com/mcp --bearer EXAMPLE_TOKEN --json`,
    )
    .action(async (flags: McpFlags) =>
      runAction((context) => inspectServers(context, flags, formatToolList)),
    );
  withFlags(mcp.command("test").description("Report which servers are usable, and why others are not"))
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast mcp test --agent agent.toml
  $ holdfast mcp test --command "node server.js" --env 'API_KEY=\${API_KEY}'

Exit codes: 0 all servers are usable, 1 at least one is not, 2 no server is specified.`,
    )
    .action(async (flags: McpFlags) =>
      runAction((context) => inspectServers(context, flags, formatServerCheck)),
    );
}

function configureImport(mcp: Command, runAction: RunAction): void {
  mcp
    .command("import")
    .description("Convert the MCP servers of Claude, Cursor or VS Code")
    .argument(
      "<file>",
      "claude_desktop_config.json, .mcp.json, ~/.claude.json, .cursor/mcp.json or .vscode/mcp.json",
    )
    .option("--into <file>", "add the servers to this agent file (default: print them)")
    .option(
      "--server <name>",
      "import only this server; repeatable",
      (name: string, before: readonly string[] = []) => [...before, name],
    )
    .option(
      "--project <folder>",
      "the project whose servers are read from ~/.claude.json (default: this folder)",
    )
    .option("--yaml", "print YAML instead of TOML")
    .option(...UNTRUSTED)
    .option("--dry-run", "write nothing")
    .addHelpText(
      "after",
      `
Secrets are not copied: a reference such as \${GITHUB_TOKEN} replaces each, and a message says which variable to set. Every
field that Holdfast does not have is named. Disabled servers are left out.

Examples:
  $ holdfast mcp import .mcp.json
  $ holdfast mcp import ~/.claude.json --server github --into agent.toml
  $ holdfast mcp import .cursor/mcp.json --into agent.yaml --dry-run`,
    )
    .action(async (file: string, flags: McpImportFlags) =>
      runAction((context) => importMcpServers(context, file, flags)),
    );
}

type FormatInspection = (name: string, look: ServerInspection, paint: Context["out"]) => readonly string[];

const formatToolList: FormatInspection = (name, seen, paint) =>
  seen.ok ? formatServer(name, seen, paint) : formatServerCheck(name, seen, paint);

async function inspectServers(context: Context, flags: McpFlags, format: FormatInspection): Promise<number> {
  const { env } = context.streams;
  const { servers, sandbox, workspace = process.cwd() } = parseMcpServers(flags, readTrust(context, flags));
  const log = createSilentLog();
  const sandboxes = new Sandboxes({
    fallback: readSandboxVariable(env),
    holdfastHome: resolveHome(context.options.home).folder,
    environment: env,
  });
  const version = readPackageVersion();
  const pool = new McpPool({ sandboxes, secrets: (name) => env[name], version, log });
  try {
    const { signal } = new AbortController();
    let code: number = EXIT.ok;
    for (const server of servers) {
      const inspection = await inspectServer(
        server,
        { sandbox: sandboxes.getSettings(getOwnSandbox(server) ?? sandbox), workspace },
        pool,
        signal,
      );
      if (!inspection.ok) code = EXIT.failed;
      if (context.json) context.printJson({ type: "mcp-server", name: server.name, ...inspection });
      else for (const line of format(server.name, inspection, context.out)) context.print(line);
    }
    return code;
  } finally {
    await pool.close();
  }
}

function readSandboxVariable(env: NodeJS.ProcessEnv): SandboxSettings {
  try {
    return readSandbox(undefined, env);
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

/** Creates a log that discards everything: the inspection's result contains the errors. */
function createSilentLog() {
  const silent = () => {};
  return { debug: silent, info: silent, warn: silent };
}
