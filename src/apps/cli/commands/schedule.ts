import type { Command } from "commander";
import type { CreateScheduleOptions, Overlap, ScheduleInfo } from "../../../client/index.ts";
import { OVERLAP_POLICIES } from "../../../client/runs/schedules.ts";
import { findNearestName } from "../../../platform/text/nearest-name.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { type AgentFlags, addAgentFlags, buildDefinition } from "../agent-flags.ts";
import { ATTACH_OPTION, type AttachFlag, buildPrompt, MENTION_HELP } from "../attachments.ts";
import { withHoldfast } from "../connection.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { loadMode } from "../mode-file.ts";
import { formatProblem } from "../problem-view.ts";
import { formatTable } from "../table.ts";
import { shortenText } from "../text.ts";
import { showTrustNotice } from "../trust-notice.ts";
import { UsageError } from "../usage-error.ts";

type CreateFlags = AgentFlags &
  AttachFlag & {
    readonly cron?: string;
    readonly every?: string;
    readonly timeZone?: string;
    readonly overlap: string;
    readonly paused?: boolean;
    readonly wake?: string;
  };

/** Adds the commands for agents that start on a schedule. */
export function configureScheduleCommand(schedule: Command, runAction: RunAction): void {
  schedule.addHelpText(
    "after",
    `
Examples:
  $ holdfast schedule create nightly --cron "0 2 * * *" --agent team.toml "Review the day's commits"
  $ holdfast schedule create poll --every 15m --wake 5f0c… "Check the build"
  $ holdfast schedule list
  $ holdfast schedule pause nightly`,
  );
  const create = schedule
    .command("create")
    .description("Create a schedule; each start has its own session or job")
    .argument("<name>", "the schedule's name, which is also the prefix of the ids that it starts")
    .argument("[task]", "the task")
    .option("--cron <expression>", 'when to start, such as "0 9 * * 1-5"')
    .option("--every <time>", "how often to start, such as 30s, 15m, 2h or 1d")
    .option("--time-zone <name>", "the time zone of --cron (default: UTC)")
    .option(
      "--overlap <policy>",
      `what to do while the previous start still runs: ${OVERLAP_POLICIES.join(", ")}`,
      "skip",
    )
    .option(...ATTACH_OPTION)
    .option("--paused", "create it paused; it starts nothing until you unpause it")
    .option("--wake <job>", "wake this job, an autonomous agent, instead of starting one");
  addAgentFlags(create)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast schedule create nightly --cron "0 2 * * *" --agent team.toml "Review the day's commits"
  $ holdfast schedule create hourly --every 1h --model openai/gpt-5 "Summarise the new issues" --overlap buffer-one
  $ holdfast schedule create daily --every 1d --agent team.toml "Check the page against this" --attach plan.pdf

${MENTION_HELP}`,
    )
    .action(async (name: string, task: string | undefined, flags: CreateFlags) =>
      runAction((context) => createSchedule(context, name, task, flags)),
    );
  schedule
    .command("list")
    .description("List the schedules, their next starts and what they started last")
    .addHelpText("after", "\nExamples:\n  $ holdfast schedule list\n  $ holdfast schedule list --json")
    .action(async () => runAction(listSchedules));
  for (const [verb, description] of VERBS) {
    schedule
      .command(verb)
      .description(description)
      .argument("<name>", "the schedule's name")
      .addHelpText(
        "after",
        `\nExamples:\n  $ holdfast schedule ${verb} nightly\n  $ holdfast schedule ${verb} nightly --json`,
      )
      .action(async (name: string) => runAction((context) => changeSchedule(context, verb, name)));
  }
}

const VERBS = [
  ["pause", "Pause a schedule: it starts nothing until you unpause it"],
  ["unpause", "Resume a paused schedule"],
  ["trigger", "Start the schedule's work once, immediately"],
  ["delete", "Delete a schedule; what it started continues"],
] as const;

async function createSchedule(
  context: Context,
  name: string,
  task: string | undefined,
  flags: CreateFlags,
): Promise<number> {
  const what = parseWork(context, task, flags);
  const options: CreateScheduleOptions = {
    name,
    ...what,
    ...omitUndefined({ cron: flags.cron }),
    ...(flags.every === undefined ? {} : { everyMs: parseInterval(flags.every) }),
    ...omitUndefined({ timeZone: flags.timeZone }),
    overlap: parseOverlap(flags.overlap),
    paused: flags.paused === true,
  };
  return withHoldfast(context, async (holdfast) => {
    await holdfast.schedules.create(options);
    if (context.json) context.printJson({ type: "schedule", name });
    else context.report(`Schedule ${name} is created. \`holdfast schedule list\` prints its next start.`);
    return EXIT.ok;
  });
}

type ScheduledWork =
  | Pick<Extract<CreateScheduleOptions, { agent: unknown }>, "agent" | "task">
  | Pick<Extract<CreateScheduleOptions, { mode: unknown }>, "mode" | "task">
  | { readonly wake: string; readonly text?: string };

function parseWork(context: Context, text: string | undefined, flags: CreateFlags): ScheduledWork {
  const surroundings = { cwd: process.cwd(), env: context.streams.env };
  if (flags.wake !== undefined) {
    if (flags.attach !== undefined)
      throw new UsageError("--attach belongs to a task; --wake sends a text to a job that has begun.");
    return { wake: flags.wake, ...omitUndefined({ text }) };
  }
  const task =
    text === undefined && flags.attach === undefined ? undefined : buildPrompt(context, text ?? "", flags);
  const declared = loadMode(flags, surroundings);
  showTrustNotice(context, flags);
  for (const problem of declared?.problems ?? [])
    context.report(formatProblem(problem, context.err).join("\n"));
  if (declared !== undefined) {
    return { mode: declared.mode, ...omitUndefined({ task }) };
  }
  if (task === undefined)
    throw new UsageError("The task is missing. Give it as the argument after the name, or --attach FILE.");
  const { agent, warnings, problems } = buildDefinition(flags, surroundings);
  for (const warning of warnings) context.report(context.err.yellow(warning));
  for (const problem of problems) context.report(formatProblem(problem, context.err).join("\n"));
  return { agent, task };
}

async function listSchedules(context: Context): Promise<number> {
  return withHoldfast(context, async (holdfast) => {
    const found = await holdfast.schedules.list();
    if (context.json) for (const one of found) context.printJson(one);
    else if (found.length === 0) context.report("No schedules.");
    else {
      const head = ["NAME", "STATE", "STARTS", "NEXT (UTC)", "LAST STARTED", "NOTE"];
      for (const line of formatTable([head, ...found.map(formatSchedule)])) context.print(line);
    }
    return EXIT.ok;
  });
}

function formatSchedule({
  name,
  paused,
  starts = "",
  nextAt,
  recent,
  note = "",
}: ScheduleInfo): readonly string[] {
  const next = paused ? "" : (nextAt[0]?.toISOString().slice(0, 19).replace("T", " ") ?? "");
  return [name, paused ? "paused" : "active", starts, next, recent.at(-1)?.id ?? "", shortenText(note, 60)];
}

async function changeSchedule(
  context: Context,
  verb: (typeof VERBS)[number][0],
  name: string,
): Promise<number> {
  return withHoldfast(context, async (holdfast) => {
    await holdfast.schedules[verb](name);
    if (context.json) context.printJson({ type: verb, name });
    else context.report(VERB_RESULTS[verb]);
    return EXIT.ok;
  });
}

const VERB_RESULTS = {
  pause: "The schedule is paused.",
  unpause: "The schedule is active.",
  trigger: "The schedule's work is started.",
  delete: "The schedule is deleted; what it started continues.",
} as const;

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function parseInterval(text: string): number {
  const [, amount, unit] = /^(\d+)\s*([smhd])$/.exec(text) ?? [];
  if (amount !== undefined && Number(amount) > 0) return Number(amount) * UNITS[unit as keyof typeof UNITS];
  throw new UsageError(`--every "${text}" must be a time such as 30s, 15m, 2h or 1d`);
}

function parseOverlap(text: string): Overlap {
  const overlap = OVERLAP_POLICIES.find((one) => one === text);
  if (overlap !== undefined) return overlap;
  const near = findNearestName(text, OVERLAP_POLICIES);
  throw new UsageError(
    `--overlap "${text}" is unknown. ${near === undefined ? `Use one of ${OVERLAP_POLICIES.join(", ")}.` : `Did you mean "${near}"?`}`,
  );
}
