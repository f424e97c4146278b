import type { Command } from "commander";
import type { JobState, PartResult, PartStatus, Session } from "../../../client/index.ts";
import { STATUS_CODES } from "../../../core/machine/status-code.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { withHoldfast } from "../connection.ts";
import type { Context, RunAction } from "../context.ts";
import { assertDetachable } from "../detach.ts";
import { EXIT } from "../exit-codes.ts";
import { JOB_ARGUMENT, withJob } from "../find-session.ts";
import { followJob, reportLeftRunning } from "../job-view.ts";
import { addSharedLimitOptions, type LimitFlags, parseLimits } from "../limit-flags.ts";
import { openStack } from "../local-stack.ts";
import { parseWholeNumber } from "../parse-number.ts";
import { type SandboxFlag, WORKER_SANDBOX_OPTION } from "../sandbox-flag.ts";
import { parseStatus } from "../session-filters.ts";
import { formatRows, toJobRow } from "../session-table.ts";
import { formatTable } from "../table.ts";
import { describeCost } from "../text.ts";
import { formatStatusRows } from "./status.ts";

type ListFlags = { readonly status?: string; readonly limit: string };
type ResumeFlags = LimitFlags & SandboxFlag & { readonly from?: string; readonly detach?: boolean };

/** Adds the commands for jobs, in which agents work together: pipeline, fan-out, autonomous agent, supervisor. */
export function configureJobCommand(job: Command, runAction: RunAction): void {
  job.addHelpText(
    "after",
    `
Examples:
  $ holdfast run "Write about cats" --agent team.toml --detach
  $ holdfast job list
  $ holdfast job status 5f0c…
  $ holdfast job wake 5f0c… "The build is green"
  $ holdfast job resume 5f0c… --from edit`,
  );
  job
    .command("list")
    .alias("ls")
    .description("List jobs, the one that was started last first")
    .option("--status <status>", STATUS_CODES.join(", "))
    .option("-n, --limit <n>", "the maximum number of jobs", "20")
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast job list\n  $ holdfast job list --status running --json | jq .job",
    )
    .action(async (flags: ListFlags) => runAction((context) => listJobs(context, flags)));
  job
    .command("status")
    .description("Print the status of a job and each of its parts")
    .argument("<job>", JOB_ARGUMENT)
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast job status 5f0c…\n  $ holdfast job status 5f0c… --json | jq .job.parts",
    )
    .action(async (id: string) => runAction((context) => showStatus(context, id)));
  job
    .command("result")
    .description("Wait until a job ends, and print its result")
    .argument("<job>", JOB_ARGUMENT)
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast job result 5f0c…\n  $ holdfast job result 5f0c… --json | tail -1",
    )
    .action(async (reference: string) =>
      runAction((context) =>
        withJob(context, reference, (holdfast, id) => followJob(context, holdfast, holdfast.jobs.get(id))),
      ),
    );
  job
    .command("stop")
    .description("Stop a job and all its parts; finished work stays")
    .argument("<job>", JOB_ARGUMENT)
    .argument("[reason]", "a reason for the record")
    .addHelpText(
      "after",
      '\nExamples:\n  $ holdfast job stop 5f0c…\n  $ holdfast job stop 5f0c… "wrong task"',
    )
    .action(async (id: string, reason: string | undefined) =>
      runAction((context) => stopJob(context, id, reason)),
    );
  job
    .command("wake")
    .description("Wake a sleeping autonomous agent")
    .argument("<job>", JOB_ARGUMENT)
    .argument("[text]", "the agent's next prompt")
    .addHelpText(
      "after",
      '\nExamples:\n  $ holdfast job wake 5f0c…\n  $ holdfast job wake 5f0c… "The build is green"',
    )
    .action(async (id: string, text: string | undefined) =>
      runAction((context) => wakeJob(context, id, text)),
    );
  const resume = job
    .command("resume")
    .description("Resume a pipeline that ended early; stages that have an answer do not run again")
    .argument("<job>", JOB_ARGUMENT)
    .option("--from <stage>", "the stage to resume at (default: the first without an answer)")
    .option("--detach", "start the run and exit; the server and its workers continue it")
    .option(...WORKER_SANDBOX_OPTION);
  addSharedLimitOptions(resume)
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast job resume 5f0c…\n  $ holdfast job resume 5f0c… --from edit --max-cost 5",
    )
    .action(async (id: string, flags: ResumeFlags) =>
      runAction((context) => resumePipeline(context, id, flags)),
    );
}

async function listJobs(context: Context, { status, limit }: ListFlags): Promise<number> {
  const options = {
    limit: parseWholeNumber("--limit", limit),
    ...(status === undefined ? {} : { status: parseStatus(status) }),
  };
  return withHoldfast(context, async (holdfast) => {
    const jobs = await holdfast.jobs.list(options);
    if (context.json) for (const one of jobs) context.printJson({ type: "job", ...one });
    else if (jobs.length === 0) context.report("No jobs.");
    else for (const line of formatRows(context, jobs.map(toJobRow), Date.now())) context.print(line);
    return EXIT.ok;
  });
}

async function showStatus(context: Context, reference: string): Promise<number> {
  return withJob(context, reference, async (holdfast, id) => {
    const job = holdfast.jobs.get(id);
    const jobStatus = await job.status();
    // An ended job answers no queries; its result has the outcome of its parts.
    const ended = jobStatus.open ? undefined : await job.tryResult().catch(() => undefined);
    const parts = jobStatus.job?.parts ?? ended?.parts ?? [];
    if (context.json) context.printJson({ ...jobStatus, ...omitUndefined({ result: ended }) });
    else
      for (const line of await formatJob(context, jobStatus, parts, holdfast.session(id)))
        context.print(line);
    return EXIT.ok;
  });
}

async function formatJob(
  context: Context,
  jobStatus: JobState,
  parts: readonly (PartStatus | PartResult)[],
  session: Session,
): Promise<readonly string[]> {
  const rows = await formatStatusRows(session, jobStatus, context.options);
  const statusLines = rows
    .filter(([name]) => name !== "queued")
    .map(([name, value]) => `${context.out.bold(name.padEnd(9))} ${value}`);
  if (parts.length === 0) return statusLines;
  return [
    ...statusLines,
    "",
    ...formatTable([["PART", "AGENT", "STATUS", "TURNS", "COST", "SESSION"], ...parts.map(formatPart)]),
  ];
}

function formatPart(part: PartStatus | PartResult): readonly string[] {
  const { name, agent, turns, costUsd, session } = part;
  const status = "status" in part ? part.status : (part.outcome?.type ?? "not started");
  return [name, agent, status, `${turns}`, describeCost(costUsd), session];
}

async function stopJob(context: Context, reference: string, reason: string | undefined): Promise<number> {
  return withJob(context, reference, async (holdfast, id) => {
    const open = await holdfast.jobs.get(id).stop(reason);
    if (context.json) context.printJson({ type: "stop", job: id, open });
    else context.report(open ? "The job is asked to stop." : "The job has already ended.");
    return EXIT.ok;
  });
}

async function wakeJob(context: Context, reference: string, text: string | undefined): Promise<number> {
  return withJob(context, reference, async (holdfast, id) => {
    await holdfast.jobs.get(id).wake(text);
    if (context.json) context.printJson({ type: "wake", job: id });
    else context.report("The job is woken.");
    return EXIT.ok;
  });
}

async function resumePipeline(context: Context, reference: string, flags: ResumeFlags): Promise<number> {
  const limits = parseLimits(flags);
  const stack = await openStack(context, { sandbox: flags.sandbox });
  try {
    if (flags.detach === true) assertDetachable(stack);
    const id = await stack.holdfast.jobs.find(reference);
    const job = await stack.holdfast.jobs.resume(id, {
      ...omitUndefined({ from: flags.from }),
      ...(Object.keys(limits).length === 0 ? {} : { limits }),
    });
    return flags.detach === true
      ? reportLeftRunning(context, job)
      : await followJob(context, stack.holdfast, job);
  } finally {
    await stack.close();
  }
}
