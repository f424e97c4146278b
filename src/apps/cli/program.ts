import { Command, CommanderError } from "commander";
import { HoldfastError } from "../../client/index.ts";
import { askingToAccept } from "./accept-question.ts";
import { AgentFileError } from "./agent-file.ts";
import { answerCommand } from "./commands/answer.ts";
import { approveCommand, denyCommand } from "./commands/approve.ts";
import { attachCommand } from "./commands/attach.ts";
import { backupCommand, restoreCommand } from "./commands/backup.ts";
import { branchCommand } from "./commands/branch.ts";
import { chatCommand } from "./commands/chat.ts";
import { compactCommand } from "./commands/compact.ts";
import { compareCommand } from "./commands/compare.ts";
import { configCommand } from "./commands/config.ts";
import { continueCommand, raiseLimitCommand, rerunCommand } from "./commands/continue.ts";
import { deleteCommand } from "./commands/delete.ts";
import { devCommand } from "./commands/dev.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { exploreCommand } from "./commands/explore.ts";
import { acceptCommand, exportCommand, importCommand } from "./commands/export.ts";
import { forkCommand, rewindCommand } from "./commands/fork.ts";
import { initCommand } from "./commands/init.ts";
import { jobCommand } from "./commands/job.ts";
import { listCommand } from "./commands/list.ts";
import { mcpCommand } from "./commands/mcp.ts";
import { sendCommand } from "./commands/message.ts";
import { modelsCommand } from "./commands/models.ts";
import { openapiCommand } from "./commands/openapi.ts";
import { rekeyCommand } from "./commands/rekey.ts";
import { keepCommand, retentionCommand } from "./commands/retention.ts";
import { runCommand } from "./commands/run.ts";
import { scheduleCommand } from "./commands/schedule.ts";
import { followUpCommand, steerCommand, stopCommand } from "./commands/send.ts";
import { serveCommand } from "./commands/serve.ts";
import { searchCommand, sessionsCommand } from "./commands/sessions.ts";
import { showCommand } from "./commands/show.ts";
import { skillsCommand } from "./commands/skills.ts";
import { statusCommand } from "./commands/status.ts";
import { updateCommand } from "./commands/update.ts";
import { workerCommand } from "./commands/worker.ts";
import { Context, type GlobalOptions, type Streams } from "./context.ts";
import { EXIT, EXIT_CODES_HELP, EXIT_OF_ERROR } from "./exit-codes.ts";
import { print, printJson } from "./output.ts";
import { packageVersion } from "./package-version.ts";
import { paletteFor } from "./palette.ts";
import { problemsView } from "./problem-view.ts";
import { UsageError } from "./usage-error.ts";

type Work = (context: Context) => Promise<number>;
export type Act = (work: Work) => Promise<void>;

const COMMANDS = [
  devCommand,
  runCommand,
  compareCommand,
  chatCommand,
  attachCommand,
  initCommand,
  configCommand,
  openapiCommand,
  skillsCommand,
  listCommand,
  statusCommand,
  showCommand,
  sendCommand,
  steerCommand,
  followUpCommand,
  answerCommand,
  approveCommand,
  denyCommand,
  compactCommand,
  continueCommand,
  rerunCommand,
  forkCommand,
  rewindCommand,
  branchCommand,
  exploreCommand,
  raiseLimitCommand,
  updateCommand,
  rekeyCommand,
  stopCommand,
  sessionsCommand,
  searchCommand,
  exportCommand,
  importCommand,
  acceptCommand,
  keepCommand,
  deleteCommand,
  retentionCommand,
  jobCommand,
  scheduleCommand,
  mcpCommand,
  modelsCommand,
  workerCommand,
  serveCommand,
  doctorCommand,
  backupCommand,
  restoreCommand,
] as const;

/** Runs one command line. @returns The exit code; nothing is thrown. */
export async function main(argv: readonly string[], streams: Streams): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = buildProgram(streams, async (work) => {
    const context = new Context(streams, program.opts<GlobalOptions>());
    exitCode = await askingToAccept(context, () => work(context));
  });
  try {
    await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (error) {
    return report(error, streams, argv.includes("--json"));
  }
}

export function buildProgram(streams: Streams, act: Act): Command {
  const program = new Command("holdfast")
    .description("AI agents that cannot be lost: durable agent loops on Temporal.")
    .version(packageVersion(), "--version", "print the version")
    .option("--address <host:port>", "the Temporal server")
    .option("--namespace <name>", "its namespace")
    .option("--task-queue <name>", "the queue that the workers poll")
    .option("--home <dir>", "where transcript and live output lie (default: ~/.holdfast)")
    .option(
      "--database <url>",
      "the PostgreSQL database that holds both instead, for workers of several hosts",
    )
    .option("--profile <name>", "of Temporal's configuration file")
    .option("--json", "one JSON object a line on standard output")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast dev
  $ holdfast run "Make the tests pass" --model anthropic/claude-sonnet-4-5
  $ holdfast init && holdfast chat --agent agent.toml
  $ holdfast doctor
${EXIT_CODES_HELP}`,
    );
  for (const command of COMMANDS) command(program, act);
  for (const command of withSubcommands(program)) {
    command
      .exitOverride()
      .configureHelp({ showGlobalOptions: true })
      .configureOutput({
        writeOut: (text) => void print(streams.stdout, text),
        writeErr: (text) => void print(streams.stderr, text),
        getOutHelpWidth: () => streams.stdout.columns ?? 100,
        getErrHelpWidth: () => streams.stderr.columns ?? 100,
      });
  }
  return program.showHelpAfterError("(--help says more)");
}

function withSubcommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

/** An error as a person reads it: no stack, unless `HOLDFAST_DEBUG` is set. */
function report(error: unknown, streams: Streams, json: boolean): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const code = exitCodeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (json) {
    const facts = factsOf(error);
    printJson(streams.stdout, { type: "error", message, ...facts, exitCode: code });
  }
  if (error instanceof AgentFileError) {
    print(
      streams.stderr,
      `${problemsView(error.problems, paletteFor(streams.stderr, streams.env)).join("\n")}\n`,
    );
  }
  print(streams.stderr, `holdfast: ${message}\n`);
  if (streams.env["HOLDFAST_DEBUG"] === "1" && error instanceof Error) {
    for (let at: unknown = error; at instanceof Error; at = at.cause) print(streams.stderr, `${at.stack}\n`);
  }
  return code;
}

function factsOf(error: unknown): object {
  if (error instanceof AgentFileError) return { problems: error.problems };
  return error instanceof HoldfastError ? { code: error.code, ...error.facts } : {};
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  return error instanceof HoldfastError ? EXIT_OF_ERROR[error.code] : EXIT.failed;
}
