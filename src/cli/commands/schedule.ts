import type { Command } from "commander";
import {
  type CreateScheduleOptions,
  OVERLAP_WORDS,
  type Overlap,
  type ScheduleInfo,
} from "../../client/index.ts";
import { nearestName } from "../../core/nearest-name.ts";
import { type AgentFlags, addAgentFlags, definitionFrom } from "../agent-flags.ts";
import { withHoldfast } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { modeFrom } from "../mode-file.ts";
import { problemView } from "../problem-view.ts";
import { table } from "../table.ts";
import { noticeOfTrust } from "../trust-notice.ts";
import { UsageError } from "../usage-error.ts";
import { shortened } from "../words.ts";

type Act = (work: (context: Context) => Promise<number>) => Promise<void>;
type CreateFlags = AgentFlags & {
  readonly cron?: string;
  readonly every?: string;
  readonly timeZone?: string;
  readonly overlap: string;
  readonly paused?: boolean;
  readonly wake?: string;
};

/** Agents that are started by the clock. */
export function scheduleCommand(program: Command, act: Act): void {
  const schedule = program
    .command("schedule")
    .description("Start agents by the clock: a run, or any mode of an agent file")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast schedule create nightly --cron "0 2 * * *" --agent team.toml "Review the day's commits"
  $ holdfast schedule create poll --every 15m --wake 5f0c… "Look at the build"
  $ holdfast schedule list
  $ holdfast schedule pause nightly`,
    );
  const create = schedule
    .command("create")
    .description("Make a schedule; each start has a session, or a job, of its own")
    .argument("<name>", "the schedule's name, and the beginning of the ids of what it starts")
    .argument("[task]", "what is to be done")
    .option("--cron <expression>", 'when, as in "0 9 * * 1-5"')
    .option("--every <time>", "how often, as in 30s, 15m, 2h or 1d")
    .option("--time-zone <name>", "of --cron (default: UTC)")
    .option("--overlap <word>", `while the one before is at work: ${OVERLAP_WORDS.join(", ")}`, "skip")
    .option("--paused", "it begins when it is unpaused")
    .option("--wake <job>", "wakes this job, an autonomous agent, instead of starting one");
  addAgentFlags(create)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast schedule create nightly --cron "0 2 * * *" --agent team.toml "Review the day's commits"
  $ holdfast schedule create hourly --every 1h --model openai/gpt-5 "Summarise the new issues" --overlap buffer-one`,
    )
    .action(async (name: string, task: string | undefined, flags: CreateFlags) =>
      act((context) => make(context, name, task, flags)),
    );
  schedule
    .command("list")
    .description("List the schedules: when they start next, and what they have started")
    .addHelpText("after", "\nExamples:\n  $ holdfast schedule list\n  $ holdfast schedule list --json")
    .action(async () => act(list));
  for (const [verb, description] of VERBS) {
    schedule
      .command(verb)
      .description(description)
      .argument("<name>", "the schedule's name")
      .addHelpText(
        "after",
        `\nExamples:\n  $ holdfast schedule ${verb} nightly\n  $ holdfast schedule ${verb} nightly --json`,
      )
      .action(async (name: string) => act((context) => change(context, verb, name)));
  }
}

const VERBS = [
  ["pause", "Start nothing until it is unpaused"],
  ["unpause", "Go on as it says"],
  ["trigger", "Start it once, now"],
  ["delete", "Forget it; what it has started goes on"],
] as const;

async function make(
  context: Context,
  name: string,
  task: string | undefined,
  flags: CreateFlags,
): Promise<number> {
  const what = whatOf(context, task, flags);
  const options: CreateScheduleOptions = {
    name,
    ...what,
    ...(flags.cron === undefined ? {} : { cron: flags.cron }),
    ...(flags.every === undefined ? {} : { everyMs: milliseconds(flags.every) }),
    ...(flags.timeZone === undefined ? {} : { timeZone: flags.timeZone }),
    overlap: overlapFrom(flags.overlap),
    paused: flags.paused === true,
  };
  return withHoldfast(context, async (holdfast) => {
    await holdfast.schedules.create(options);
    if (context.json) context.printJson({ type: "schedule", name });
    else context.tell(`Schedule ${name} is made. \`holdfast schedule list\` says when it starts next.`);
    return EXIT.ok;
  });
}

type What =
  | Pick<Extract<CreateScheduleOptions, { agent: unknown }>, "agent" | "task">
  | { readonly mode: Mode; readonly task?: string }
  | { readonly wake: string; readonly words?: string };
type Mode = Extract<CreateScheduleOptions, { mode: unknown }>["mode"];

function whatOf(context: Context, task: string | undefined, flags: CreateFlags): What {
  const surroundings = { cwd: process.cwd(), env: context.streams.env };
  if (flags.wake !== undefined) {
    return { wake: flags.wake, ...(task === undefined ? {} : { words: task }) };
  }
  const declared = modeFrom(flags, surroundings);
  noticeOfTrust(context, flags);
  for (const problem of declared?.problems ?? []) context.tell(problemView(problem, context.err).join("\n"));
  if (declared !== undefined) {
    return { mode: declared.mode, ...(task === undefined ? {} : { task }) };
  }
  if (task === undefined) throw new UsageError("Say what is to be done: the task is missing.");
  const { agent, warnings, problems } = definitionFrom(flags, surroundings);
  for (const warning of warnings) context.tell(context.err.yellow(warning));
  for (const problem of problems) context.tell(problemView(problem, context.err).join("\n"));
  return { agent, task };
}

async function list(context: Context): Promise<number> {
  return withHoldfast(context, async (holdfast) => {
    const found = await holdfast.schedules.list();
    if (context.json) for (const one of found) context.printJson(one);
    else if (found.length === 0) context.tell("No schedules.");
    else {
      const head = ["NAME", "STATE", "STARTS", "NEXT (UTC)", "LAST STARTED", "NOTE"];
      for (const line of table([head, ...found.map(row)])) context.print(line);
    }
    return EXIT.ok;
  });
}

function row({ name, paused, starts = "", nextAt, recent, note = "" }: ScheduleInfo): readonly string[] {
  const next = paused ? "" : (nextAt[0]?.toISOString().slice(0, 19).replace("T", " ") ?? "");
  return [name, paused ? "paused" : "active", starts, next, recent.at(-1)?.id ?? "", shortened(note, 60)];
}

async function change(context: Context, verb: (typeof VERBS)[number][0], name: string): Promise<number> {
  return withHoldfast(context, async (holdfast) => {
    await holdfast.schedules[verb](name);
    if (context.json) context.printJson({ type: verb, name });
    else context.tell(DONE[verb]);
    return EXIT.ok;
  });
}

const DONE = {
  pause: "It is paused.",
  unpause: "It goes on.",
  trigger: "It is started.",
  delete: "It is gone; what it has started goes on.",
} as const;

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function milliseconds(text: string): number {
  const [, amount, unit] = /^(\d+)\s*([smhd])$/.exec(text) ?? [];
  if (amount !== undefined && Number(amount) > 0) return Number(amount) * UNITS[unit as keyof typeof UNITS];
  throw new UsageError(`--every "${text}" must be a time such as 30s, 15m, 2h or 1d`);
}

function overlapFrom(text: string): Overlap {
  const word = OVERLAP_WORDS.find((one) => one === text);
  if (word !== undefined) return word;
  const near = nearestName(text, OVERLAP_WORDS);
  throw new UsageError(
    `--overlap "${text}" is not known. ${near === undefined ? `There are ${OVERLAP_WORDS.join(", ")}.` : `Did you mean "${near}"?`}`,
  );
}
