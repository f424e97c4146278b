import { Command, CommanderError } from "commander";
import { HoldfastError } from "../../client/index.ts";
import { confirmImportedAgent } from "./accept-import.ts";
import { AgentFileError } from "./agent-file.ts";
import { addAnswerCommand } from "./commands/answer.ts";
import { addApproveCommand, addDenyCommand } from "./commands/approve.ts";
import { addAttachCommand } from "./commands/attach.ts";
import { addBackupCommand, addRestoreCommand } from "./commands/backup.ts";
import { addBranchCommand } from "./commands/branch.ts";
import { addChatCommand } from "./commands/chat.ts";
import { addCompactCommand } from "./commands/compact.ts";
import { addCompareCommand } from "./commands/compare.ts";
import { addConfigCommand } from "./commands/config.ts";
import { addContinueCommand, addRaiseLimitCommand, addRerunCommand } from "./commands/continue.ts";
import { addDeleteCommand } from "./commands/delete.ts";
import { addDevCommand } from "./commands/dev.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addExploreCommand } from "./commands/explore.ts";
import { addAcceptCommand, addExportCommand, addImportCommand } from "./commands/export.ts";
import { addForkCommand, addRewindCommand } from "./commands/fork.ts";
import { addInitCommand } from "./commands/init.ts";
import { addJobCommand } from "./commands/job.ts";
import { addListCommand } from "./commands/list.ts";
import { addMcpCommand } from "./commands/mcp.ts";
import { addModelsCommand } from "./commands/models.ts";
import { addOpenapiCommand } from "./commands/openapi.ts";
import { addRekeyCommand } from "./commands/rekey.ts";
import { addKeepCommand, addRetentionCommand } from "./commands/retention.ts";
import { addRunCommand } from "./commands/run.ts";
import { addScheduleCommand } from "./commands/schedule.ts";
import { addSearchCommand } from "./commands/search.ts";
import { addSendCommand } from "./commands/send.ts";
import { addServeCommand } from "./commands/serve.ts";
import { addShowCommand } from "./commands/show.ts";
import { addSkillsCommand } from "./commands/skills.ts";
import { addStatusCommand } from "./commands/status.ts";
import { addFollowUpCommand, addSteerCommand, addStopCommand } from "./commands/steer.ts";
import { addUpdateCommand } from "./commands/update.ts";
import { addWorkerCommand } from "./commands/worker.ts";
import { Context, type GlobalOptions, type Streams } from "./context.ts";
import { ERROR_EXIT_CODES, EXIT, EXIT_CODES_HELP } from "./exit-codes.ts";
import { print, printJson } from "./output.ts";
import { readPackageVersion } from "./package-version.ts";
import { createPalette } from "./palette.ts";
import { formatProblems } from "./problem-view.ts";
import { UsageError } from "./usage-error.ts";

type CommandAction = (context: Context) => Promise<number>;
export type RunAction = (work: CommandAction) => Promise<void>;

const COMMANDS = [
  addDevCommand,
  addRunCommand,
  addCompareCommand,
  addChatCommand,
  addAttachCommand,
  addInitCommand,
  addConfigCommand,
  addOpenapiCommand,
  addSkillsCommand,
  addListCommand,
  addStatusCommand,
  addShowCommand,
  addSendCommand,
  addSteerCommand,
  addFollowUpCommand,
  addAnswerCommand,
  addApproveCommand,
  addDenyCommand,
  addCompactCommand,
  addContinueCommand,
  addRerunCommand,
  addForkCommand,
  addRewindCommand,
  addBranchCommand,
  addExploreCommand,
  addRaiseLimitCommand,
  addUpdateCommand,
  addRekeyCommand,
  addStopCommand,
  addSearchCommand,
  addExportCommand,
  addImportCommand,
  addAcceptCommand,
  addKeepCommand,
  addDeleteCommand,
  addRetentionCommand,
  addJobCommand,
  addScheduleCommand,
  addMcpCommand,
  addModelsCommand,
  addWorkerCommand,
  addServeCommand,
  addDoctorCommand,
  addBackupCommand,
  addRestoreCommand,
] as const;

/** Runs one command line. Returns the exit code, and never throws. */
export async function main(argv: readonly string[], streams: Streams): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = buildProgram(streams, async (work) => {
    const context = new Context(streams, program.opts<GlobalOptions>());
    exitCode = await confirmImportedAgent(context, () => work(context));
  });
  try {
    await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (error) {
    return reportError(error, streams, argv.includes("--json"));
  }
}

export function buildProgram(streams: Streams, runAction: RunAction): Command {
  const program = new Command("holdfast")
    .description("AI agents that cannot be lost: durable agent loops on Temporal.")
    .version(readPackageVersion(), "--version", "print the version")
    .option("--address <host:port>", "the Temporal server")
    .option("--namespace <name>", "the server's namespace")
    .option("--task-queue <name>", "the task queue that the workers poll")
    .option("--home <dir>", "the folder of the transcript and live output (default: ~/.holdfast)")
    .option(
      "--database <url>",
      "a PostgreSQL database that stores both instead, for workers on several hosts",
    )
    .option("--profile <name>", "a profile of Temporal's configuration file")
    .option("--json", "print one JSON object per line on standard output")
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
  for (const command of COMMANDS) command(program, runAction);
  for (const command of listCommands(program)) {
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
  return program.showHelpAfterError("(for details, use --help)");
}

function listCommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(listCommands)];
}

/** Prints an error for the user, without the stack unless `HOLDFAST_DEBUG` is set, and returns the exit code. */
function reportError(error: unknown, streams: Streams, json: boolean): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const code = getExitCode(error);
  const message = error instanceof Error ? error.message : String(error);
  if (json) {
    const facts = getErrorFacts(error);
    printJson(streams.stdout, { type: "error", message, ...facts, exitCode: code });
  }
  if (error instanceof AgentFileError) {
    print(
      streams.stderr,
      `${formatProblems(error.problems, createPalette(streams.stderr, streams.env)).join("\n")}\n`,
    );
  }
  print(streams.stderr, `holdfast: ${message}\n`);
  if (streams.env["HOLDFAST_DEBUG"] === "1" && error instanceof Error) {
    for (let at: unknown = error; at instanceof Error; at = at.cause) print(streams.stderr, `${at.stack}\n`);
  }
  return code;
}

function getErrorFacts(error: unknown): object {
  if (error instanceof AgentFileError) return { problems: error.problems };
  return error instanceof HoldfastError ? { code: error.code, ...error.facts } : {};
}

function getExitCode(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  return error instanceof HoldfastError ? ERROR_EXIT_CODES[error.code] : EXIT.failed;
}
