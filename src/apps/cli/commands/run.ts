import { text as readAll } from "node:stream/consumers";
import type { Command } from "commander";
import type { Prompt } from "../../../client/index.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { listModeAgents } from "../../../schema/mode.ts";
import { type AgentFlags, addAgentFlags, buildDefinition } from "../agent-flags.ts";
import { ATTACH_OPTION, type AttachFlag, buildPrompt, MENTION_HELP } from "../attachments.ts";
import type { Context, RunAction } from "../context.ts";
import { assertDetachable, reportDetached } from "../detach.ts";
import { parseDurationMs } from "../duration.ts";
import { findOrNameSession } from "../find-session.ts";
import { followRun } from "../follow-run.ts";
import { followJob, reportLeftRunning } from "../job-view.ts";
import { readMetadata } from "../json-object.ts";
import { openStack } from "../local-stack.ts";
import { loadMode } from "../mode-file.ts";
import {
  addPermissionFlags,
  applyPermissionFlags,
  applyPermissionFlagsToMode,
  findUnusedAllows,
  type PermissionFlags,
  refusesUnsafeCalls,
} from "../permission-flags.ts";
import { formatProblem } from "../problem-view.ts";
import { showTrustNotice } from "../trust-notice.ts";
import { UsageError } from "../usage-error.ts";

type Flags = AgentFlags &
  AttachFlag &
  PermissionFlags & {
    readonly session?: string;
    readonly title?: string;
    readonly branch?: string;
    readonly rotateAfter?: string;
    readonly metadata?: string;
    readonly detach?: boolean;
    readonly quiet?: boolean;
  };

export function configureRunCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<task>", 'the task; "-" reads it from standard input')
    .option("--session <id>", "continue this session (default: a new session)")
    .option("--title <text>", "the session's title in lists (default: the first words of the task)")
    .option("--branch <id>", "continue at the end of this branch, which becomes the session's head")
    .option("--rotate-after <time>", "switch to a new session if this one was idle for longer: 30m, 12h")
    .option(
      "--output-schema <file>",
      "a JSON Schema that the answer must match; standard output is only that JSON",
    )
    .option(...ATTACH_OPTION)
    .option("--metadata <json>", "notes for programs, stored with the message: a JSON object, or @FILE")
    .option(
      "--detach",
      "start the run, print the session's id and exit; the server and its workers continue it",
    )
    .option("-q, --quiet", "print only the answer");
  addPermissionFlags(addAgentFlags(command))
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast run "Make the tests pass" --model anthropic/claude-sonnet-5-5 --workspace ~/project
  $ holdfast run "Review the last commit" --agent agents.toml#reviewer
  $ holdfast run "Write about cats" --agent team.toml
  $ holdfast run "Make the tests pass" --agent agents.toml --allow 'bash(npm test)'
  $ holdfast run "What does this project do?" --model openai/gpt-5 --permission-mode read-only -q > answer.md
  $ git diff | holdfast run - --model openai/gpt-5 --system "Review this change." --tools none
  $ holdfast run "List the open questions" --model openai/gpt-5 --output-schema questions.json > questions.out.json
  $ holdfast run "What is wrong with this page?" --attach screenshot.png --model anthropic/claude-sonnet-5-5
  $ holdfast run "Summarise the README" --model local/qwen3@http://127.0.0.1:8080/v1 --json

The command uses a running server (holdfast dev, --address, TEMPORAL_ADDRESS). If you specify none and none responds, it
starts a server and a worker for the duration of the run. Ctrl-C stops the run; a second Ctrl-C exits.
An agent file with a [mode] section starts that mode: a pipeline, a fan-out, an autonomous agent or a supervisor.
${MENTION_HELP}

Permissions: the rules of the agent file come first. Where they leave it open, an unsafe tool such as bash needs your
approval: at a terminal the command asks, and elsewhere (a script, CI, a job) the call is denied. --yes,
--permission-mode allow or --allow say otherwise; with --permission-mode ask the run waits until somebody answers, with
"holdfast approve". What the file denies stays denied.

Output: the answer is on standard output, everything else on standard error. At a terminal the answer is displayed once,
as it is written.`,
    )
    .action(async (task: string, flags: Flags) => runAction((context) => runTask(context, task, flags)));
}

async function runTask(context: Context, task: string, flags: Flags): Promise<number> {
  const { streams } = context;
  const declared = loadMode(flags, { cwd: process.cwd(), env: streams.env });
  if (declared !== undefined) return await runMode(context, task, flags, declared);
  const {
    agent: requested,
    warnings,
    problems,
  } = buildDefinition(flags, {
    cwd: process.cwd(),
    env: streams.env,
  });
  const agent = applyPermissionFlags(requested, flags, isAttended(context, flags));
  showTrustNotice(context, flags);
  const { text, prompt } = await readTask(context, task, flags);
  const metadata = readMetadata(flags);
  for (const warning of [...warnings, ...findUnusedAllows(agent, flags)])
    context.report(context.err.yellow(warning));
  for (const problem of problems) context.report(formatProblem(problem, context.err).join("\n"));
  if (refusesUnsafeCalls(agent)) reportRefusal(context, flags);
  const stack = await openStack(context, { sandbox: flags.sandbox, agents: [agent] });
  try {
    if (flags.detach === true) assertDetachable(stack);
    const id = await findOrNameSession(stack.holdfast, flags.session);
    const session = await stack.holdfast.start({
      agent,
      prompt,
      ...omitUndefined({ session: id, title: flags.title, branch: flags.branch, metadata }),
      ...(flags.rotateAfter === undefined
        ? {}
        : { rotateAfterMs: parseDurationMs("--rotate-after", flags.rotateAfter) }),
    });
    if (flags.detach === true) return reportDetached(context, session);
    if (flags.quiet !== true)
      context.report(
        context.err.dim(`session ${session.id}${stack.uiUrl === undefined ? "" : ` · ${stack.uiUrl}`}`),
      );
    return await followRun(context, stack, session, {
      prompt: text,
      output: flags.outputSchema === undefined ? "answer" : "json",
      isQuiet: flags.quiet === true,
      asks: isAttended(context, flags),
    });
  } finally {
    await stack.close();
  }
}

/** Reads the task from the arguments or standard input, and the files that it attaches. */
async function readTask(
  context: Context,
  task: string,
  flags: AttachFlag,
): Promise<{ readonly text: string; readonly prompt: Prompt }> {
  const text = task === "-" ? await readAll(context.streams.stdin) : task;
  if (text.trim() === "" && flags.attach === undefined)
    throw new UsageError("The task is empty. Give a task that has text, or --attach FILE.");
  return { text, prompt: buildPrompt(context, text, flags, task !== "-") };
}

/** Starts the job that the [mode] section of an agent file describes; `--session` is then the job's id. */
async function runMode(
  context: Context,
  task: string,
  flags: Flags,
  { mode: requested, problems }: NonNullable<ReturnType<typeof loadMode>>,
): Promise<number> {
  const mode = applyPermissionFlagsToMode(requested, flags);
  const { text, prompt } = await readTask(context, task, flags);
  if (flags.metadata !== undefined) {
    throw new UsageError("--metadata belongs to a prompt; an agent file with a [mode] section starts a job.");
  }
  showTrustNotice(context, flags);
  for (const problem of problems) context.report(formatProblem(problem, context.err).join("\n"));
  const stack = await openStack(context, { sandbox: flags.sandbox, agents: listModeAgents(mode) });
  try {
    if (flags.detach === true) assertDetachable(stack);
    const job = await stack.holdfast.jobs.start({
      mode,
      task: prompt,
      ...omitUndefined({ job: flags.session, title: flags.title }),
    });
    if (flags.detach === true) return reportLeftRunning(context, job);
    const { id, runId = "" } = job;
    if (mode.type === "interactive") {
      return await followRun(context, stack, stack.holdfast.session(id, { runId }), {
        prompt: text,
        isQuiet: flags.quiet === true,
      });
    }
    context.report(context.err.dim(`job ${id}${stack.uiUrl === undefined ? "" : ` · ${stack.uiUrl}`}`));
    return await followJob(context, stack.holdfast, job);
  } finally {
    await stack.close();
  }
}

/** Whether somebody at this terminal can answer questions about calls. */
function isAttended({ json, streams }: Context, { detach }: Flags): boolean {
  return !json && detach !== true && streams.stdin.isTTY === true && streams.stderr.isTTY === true;
}

function reportRefusal(context: Context, { quiet, tools }: Flags): void {
  if (quiet === true || tools === "none") return;
  context.report(
    context.err.dim(
      "Nobody can be asked here: calls of unsafe tools, such as bash, are denied. --yes or --allow runs them.",
    ),
  );
}
