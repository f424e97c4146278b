import type { Command } from "commander";
import { type Look, lookAt } from "../../mcp/look.ts";
import { McpPool } from "../../mcp/pool.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { type McpFlags, serversFrom } from "../mcp-servers.ts";
import { checkLines, offerLines } from "../mcp-view.ts";
import { packageVersion } from "../package-version.ts";
import { surroundingsOf, UNTRUSTED } from "../untrusted-flag.ts";

type Act = (work: (context: Context) => Promise<number>) => Promise<void>;

export function mcpCommand(program: Command, act: Act): void {
  const mcp = program
    .command("mcp")
    .description("Look at servers of the Model Context Protocol")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast mcp list --agent agent.toml
  $ holdfast mcp test --command "npx -y @modelcontextprotocol/server-filesystem ."`,
    );
  const collect = (word: string, words: readonly string[] = []): readonly string[] => [...words, word];
  const withFlags = (command: Command): Command =>
    command
      .option("-a, --agent <file>", "the servers of an agent file, or of FILE#NAME")
      .option(...UNTRUSTED)
      .option("--server <name>", "one of them only; the name of the one that is described here")
      .option("--command <line>", "a program that speaks MCP over its standard input and output")
      .option("--env <name=value>", "of its environment; VALUE may be ${VARIABLE}", collect)
      .option("--url <address>", "a server of streamable HTTP")
      .option("--header <name:value>", "sent with each request; VALUE may be ${VARIABLE}", collect)
      .option("--bearer <variable>", "the variable that holds a bearer token")
      .option("--timeout <seconds>", "for one answer of a server that is described here (default: 30)");
  withFlags(mcp.command("list").description("List tools, prompts and resources as an agent would have them"))
    .addHelpText(
      "after",
      `
REPLAY is what a second execution means (docs/crash-contract.md); IT SAYS is what the server says itself, which counts
only where the definition has trusted = true. HASH changes when the server says anything else of the tool.

Examples:
  $ holdfast mcp list --agent agent.toml#reviewer --server files
  $ holdfast mcp list --url https://mcp.example.com/mcp --bearer EXAMPLE_TOKEN --json`,
    )
    .action(async (flags: McpFlags) => act((context) => look(context, flags, offers)));
  withFlags(mcp.command("test").description("Say whether servers can be used, and why not"))
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast mcp test --agent agent.toml
  $ holdfast mcp test --command "node server.js" --env 'API_KEY=\${API_KEY}'

Exit codes: 0 all can be used, 1 one cannot, 2 there is none to try.`,
    )
    .action(async (flags: McpFlags) => act((context) => look(context, flags, checkLines)));
}

type View = (name: string, look: Look, paint: Context["out"]) => readonly string[];

const offers: View = (name, seen, paint) =>
  seen.ok ? offerLines(name, seen, paint) : checkLines(name, seen, paint);

async function look(context: Context, flags: McpFlags, view: View): Promise<number> {
  const { env } = context.streams;
  const servers = serversFrom(flags, surroundingsOf(context, flags));
  const log = silentLog();
  const pool = new McpPool({ secrets: (name) => env[name], version: packageVersion(), log });
  try {
    const { signal } = new AbortController();
    let code: number = EXIT.ok;
    for (const server of servers) {
      const seen = await lookAt(server, pool, signal);
      if (!seen.ok) code = EXIT.failed;
      if (context.json) context.printJson({ type: "mcp-server", name: server.name, ...seen });
      else for (const line of view(server.name, seen, context.out)) context.print(line);
    }
    return code;
  } finally {
    await pool.close();
  }
}

/** What goes wrong is in the result. */
function silentLog() {
  const silent = () => {};
  return { debug: silent, info: silent, warn: silent };
}
