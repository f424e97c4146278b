import { Command, type Help, Option } from "commander";
import { COMMAND_GROUPS, type CommandEntry } from "./command-table.ts";
import { Context, type GlobalOptions, type RunAction, type Streams } from "./context.ts";
import { EXIT, EXIT_CODES_HELP } from "./exit-codes.ts";
import { print } from "./output.ts";
import { readPackageVersion } from "./package-version.ts";
import { reportError } from "./report-error.ts";
import { wrapHelp } from "./wrap-help.ts";

const HELP_SUMMARY = "Print the options and examples of a command";

export const ALL_COMMANDS = Symbol("all commands");

/** Runs one command line. Returns the exit code, and never throws. */
export async function main(argv: readonly string[], streams: Streams): Promise<number> {
  let exitCode: number = EXIT.ok;
  try {
    const program = await buildProgram(streams, findCommand(argv), async (work) => {
      const context = new Context(streams, program.opts<GlobalOptions>());
      const { confirmImportedAgent } = await import("./accept-import.ts");
      exitCode = await confirmImportedAgent(context, () => work(context));
    });
    await program.parseAsync(expandHelp(argv), { from: "user" });
    return exitCode;
  } catch (error) {
    return reportError(error, streams, argv.includes("--json"));
  }
}

/**
 * Builds the program with all commands of the table that this installation has.
 *
 * @param loaded - The command that has its options and its action; the others have only a summary. `ALL_COMMANDS` are those of
 *   the npm package, which the manual page and the completions describe.
 */
export async function buildProgram(
  streams: Streams,
  loaded: typeof ALL_COMMANDS | string | undefined,
  runAction: RunAction,
): Promise<Command> {
  const program = addGlobalOptions(new Command("holdfast").optionsGroup("Global options, of every command:"));
  for (const [group, entries] of Object.entries(COMMAND_GROUPS)) {
    for (const [name, entry] of Object.entries<CommandEntry>(entries)) {
      if (entry.isPresent !== undefined && (loaded === ALL_COMMANDS || !entry.isPresent())) continue;
      const command = program.command(name).description(entry.summary).helpGroup(`${group}:`);
      if (entry.alias !== undefined) command.alias(entry.alias);
      if (loaded === ALL_COMMANDS || loaded === name || loaded === (entry.alias ?? name)) {
        (await entry.load())(command, runAction);
      }
    }
  }
  const globalOptions = formatGlobalOptions(program);
  describeProgram(program);
  for (const command of listCommands(program)) {
    command.exitOverride().configureOutput({
      writeOut: (text) => void print(streams.stdout, wrapHelp(text, streams.stdout.columns ?? 100)),
      writeErr: (text) => void print(streams.stderr, text),
      getOutHelpWidth: () => streams.stdout.columns ?? 100,
      getErrHelpWidth: () => streams.stderr.columns ?? 100,
    });
    if (command === program) continue;
    command.helpOption("-h, --help", "print this help").addHelpText("after", globalOptions);
    if (command.commands.length > 0) command.helpCommand("help [command]", "print the help of a command");
  }
  return program.showHelpAfterError("(for details, use --help)");
}

/** Describes the program itself. Call it last: commands inherit the settings that the program has when they are added. */
function describeProgram(program: Command): void {
  program
    .description("AI agents that cannot be lost: durable agent loops on Temporal.")
    .usage("<command> [options]")
    .configureHelp({ subcommandTerm })
    .addHelpCommand(new Command("help").argument("[command]").description(HELP_SUMMARY).helpGroup("Operate:"))
    .version(readPackageVersion(), "--version", "print the version")
    .addHelpOption(new Option("-h, --help", "print this help, or that of a command"))
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast dev
  $ holdfast run "Make the tests pass" --model anthropic/claude-sonnet-5-5
  $ holdfast init && holdfast chat --agent agent.toml
  $ holdfast doctor
${EXIT_CODES_HELP}`,
    );
}

function addGlobalOptions(command: Command): Command {
  return command
    .option("--address <host:port>", "the Temporal server")
    .option("--namespace <name>", "the server's namespace")
    .option("--task-queue <name>", "the task queue that the workers poll")
    .option("--home <dir>", "the folder of the transcript and live output (default: ~/.holdfast)")
    .option(
      "--database <url>",
      "a PostgreSQL database that stores both instead, for workers on several hosts",
    )
    .option("--profile <name>", "a profile of Temporal's configuration file")
    .option("--json", "print one JSON object per line on standard output");
}

/** Writes `help job status` as `job status --help`: the program's own help takes one name. */
function expandHelp(argv: readonly string[]): string[] {
  const [first, ...names] = argv;
  return first === "help" && names.length > 1 ? [...names, "--help"] : [...argv];
}

/** Finds the command that a command line names, or asks help for. */
export function findCommand(argv: readonly string[]): string | undefined {
  const parser = addGlobalOptions(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  try {
    const [name, topic] = parser.parseOptions([...argv]).operands;
    return name === "help" ? topic : name;
  } catch {
    // An option without its value: the program reports it.
    return undefined;
  }
}

/** Returns the names of a command. The table says nothing of its arguments. */
function subcommandTerm(this: Help, command: Command): string {
  return [command.name(), ...command.aliases()].join(", ");
}

function formatGlobalOptions(program: Command): string {
  const options = program.options.map(({ flags }) => flags);
  return `\nGlobal options (see holdfast --help): ${options.join(", ")}`;
}

function listCommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(listCommands)];
}
