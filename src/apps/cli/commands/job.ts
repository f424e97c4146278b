import type { Command } from "commander";
import type { JobStanding, PartResult, PartStatus, Session } from "../../../client/index.ts";
import { withHoldfast } from "../connection.ts";
import type { Context } from "../context.ts";
import { mustStay } from "../detach.ts";
import { EXIT } from "../exit-codes.ts";
import { followJob, left } from "../job-view.ts";
import { type LimitFlags, limitOptions, limitsFrom } from "../limit-flags.ts";
import { openStack } from "../local-stack.ts";
import { table } from "../table.ts";
import { describeCost } from "../words.ts";
import { statusRows } from "./status.ts";

type Act = (work: (context: Context) => Promise<number>) => Promise<void>;
type ResumeFlags = LimitFlags & { readonly from?: string; readonly detach?: boolean };

/** Agents that work together: a pipeline, a fan-out, an autonomous agent, a supervisor. */
export function jobCommand(program: Command, act: Act): void {
  const job = program
    .command("job")
    .description(
      "Look at, stop, wake or resume a job: agents that work together (see [mode] of an agent file)",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast run "Write about cats" --agent team.toml --detach
  $ holdfast job status 5f0c…
  $ holdfast job wake 5f0c… "The build is green"
  $ holdfast job resume 5f0c… --from edit`,
    );
  job
    .command("status")
    .description("Say where a job stands, and each part of it")
    .argument("<job>", "the job's id")
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast job status 5f0c…\n  $ holdfast job status 5f0c… --json | jq .job.parts",
    )
    .action(async (id: string) => act((context) => status(context, id)));
  job
    .command("result")
    .description("Wait for a job's end, and print what it has come to")
    .argument("<job>", "the job's id")
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast job result 5f0c…\n  $ holdfast job result 5f0c… --json | tail -1",
    )
    .action(async (id: string) =>
      act((context) => withHoldfast(context, (holdfast) => followJob(context, holdfast, holdfast.job(id)))),
    );
  job
    .command("stop")
    .description("End a job and all that works for it; what was done stays")
    .argument("<job>", "the job's id")
    .argument("[reason]", "kept in the record")
    .addHelpText(
      "after",
      '\nExamples:\n  $ holdfast job stop 5f0c…\n  $ holdfast job stop 5f0c… "wrong task"',
    )
    .action(async (id: string, reason: string | undefined) => act((context) => stop(context, id, reason)));
  job
    .command("wake")
    .description("Wake an autonomous agent that sleeps; words are its next prompt")
    .argument("<job>", "the job's id")
    .argument("[words]", "what it is told")
    .addHelpText(
      "after",
      '\nExamples:\n  $ holdfast job wake 5f0c…\n  $ holdfast job wake 5f0c… "The build is green"',
    )
    .action(async (id: string, words: string | undefined) => act((context) => wake(context, id, words)));
  const resume = job
    .command("resume")
    .description("Go on with a pipeline that has ended early; stages that have an answer are not asked again")
    .argument("<job>", "the job's id")
    .option("--from <stage>", "the stage to go on at (default: the first without an answer)")
    .option("--detach", "start it and leave it to the server and its workers");
  limitOptions(resume)
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast job resume 5f0c…\n  $ holdfast job resume 5f0c… --from edit --max-cost 5",
    )
    .action(async (id: string, flags: ResumeFlags) => act((context) => resumed(context, id, flags)));
}

async function status(context: Context, id: string): Promise<number> {
  return withHoldfast(context, async (holdfast) => {
    const job = holdfast.job(id);
    const found = await job.status();
    // A job that is over answers no question; its result says what came of its parts.
    const ended = found.open ? undefined : await job.result().catch(() => undefined);
    const parts = found.job?.parts ?? ended?.parts ?? [];
    if (context.json) context.printJson({ ...found, ...(ended === undefined ? {} : { result: ended }) });
    else for (const line of await lines(context, found, parts, holdfast.session(id))) context.print(line);
    return EXIT.ok;
  });
}

async function lines(
  context: Context,
  found: JobStanding,
  parts: readonly (PartStatus | PartResult)[],
  session: Session,
): Promise<readonly string[]> {
  const rows = await statusRows(session, found, context.options);
  const told = rows
    .filter(([name]) => name !== "queued")
    .map(([name, value]) => `${context.out.bold(name.padEnd(9))} ${value}`);
  if (parts.length === 0) return told;
  return [
    ...told,
    "",
    ...table([["PART", "AGENT", "STATUS", "TURNS", "COST", "SESSION"], ...parts.map(row)]),
  ];
}

function row(part: PartStatus | PartResult): readonly string[] {
  const { name, agent, turns, costUsd, session } = part;
  const word = "status" in part ? part.status : (part.outcome?.type ?? "not begun");
  return [name, agent, word, `${turns}`, describeCost(costUsd), session];
}

async function stop(context: Context, id: string, reason: string | undefined): Promise<number> {
  return withHoldfast(context, async (holdfast) => {
    const open = await holdfast.job(id).stop(reason);
    if (context.json) context.printJson({ type: "stop", job: id, open });
    else context.tell(open ? "It is told to stop." : "It is over already.");
    return EXIT.ok;
  });
}

async function wake(context: Context, id: string, words: string | undefined): Promise<number> {
  return withHoldfast(context, async (holdfast) => {
    await holdfast.job(id).wake(words);
    if (context.json) context.printJson({ type: "wake", job: id });
    else context.tell("It is woken.");
    return EXIT.ok;
  });
}

async function resumed(context: Context, id: string, flags: ResumeFlags): Promise<number> {
  const limits = limitsFrom(flags);
  const stack = await openStack(context);
  try {
    if (flags.detach === true) mustStay(stack);
    const job = await stack.holdfast.resumePipeline(id, {
      ...(flags.from === undefined ? {} : { from: flags.from }),
      ...(Object.keys(limits).length === 0 ? {} : { limits }),
    });
    return flags.detach === true ? left(context, job) : await followJob(context, stack.holdfast, job);
  } finally {
    await stack.close();
  }
}
