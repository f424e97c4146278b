import { setTimeout as pause } from "node:timers/promises";
import type { Holdfast, Job, JobResult, JobStanding, PartStatus } from "../../client/index.ts";
import type { Context } from "./context.ts";
import { EXIT, EXIT_OF_OUTCOME } from "./exit-codes.ts";
import { onInterrupts } from "./interrupts.ts";
import { count, describeCost, describeOutcome } from "./words.ts";

/** Between two looks at a job. */
const LOOK_EVERY_MS = 1000;

/** Shows a job until it is over: each part as it begins and ends on standard error, the result on standard output. */
export async function followJob(context: Context, holdfast: Holdfast, job: Job): Promise<number> {
  const leave = new AbortController();
  const off = onInterrupts(
    context.streams.signals,
    () => {
      context.tell(context.err.yellow("\nStopping the job … Ctrl-C again leaves it."));
      job.stop("interrupted at the terminal").catch((error: Error) => context.tell(error.message));
    },
    () => leave.abort(),
  );
  try {
    const result = job.result({ signal: leave.signal });
    const over = result.then(
      () => true,
      () => true,
    );
    const tell = teller(context);
    do tell(await standing(holdfast, job));
    while (!(await Promise.race([over, pause(LOOK_EVERY_MS, false)])));
    if (leave.signal.aborted) {
      context.tell(context.err.yellow(`Left. The job goes on; \`holdfast job status ${job.id}\` shows it.`));
      return EXIT.interrupted;
    }
    return conclude(context, await result);
  } finally {
    off();
  }
}

/** Sessions that are asked whether they wait for a person, at each look. */
const MOST_ASKED = 20;

/** With the word of each part at work on whether it waits for a person. */
async function standing(holdfast: Holdfast, job: Job): Promise<JobStanding> {
  const found = await job.status();
  if (found.job === undefined) return found;
  const asked = found.job.parts.filter(({ state }) => state === "running").slice(0, MOST_ASKED);
  const waiting = new Set<string>();
  await Promise.all(
    asked.map(async ({ session }) => {
      const word = await holdfast.status(session).catch(() => undefined);
      if (word?.status === "needs-approval") waiting.add(session);
    }),
  );
  const parts = found.job.parts.map(
    (part): PartStatus => (waiting.has(part.session) ? { ...part, status: "needs-approval" } : part),
  );
  return { ...found, job: { ...found.job, parts } };
}

/** Says of each part once that it works, and once how it has ended; of a job that sleeps, until when. */
function teller(context: Context): (standing: JobStanding) => void {
  const told = new Map<string, string>();
  return (standing) => {
    const rows = [
      ...(standing.job?.parts ?? []).map((part) => [part.name, wordsOf(part)] as const),
      ...(standing.job?.sleepsUntilMs === undefined ? [] : [["it", standing.doing ?? ""] as const]),
    ];
    const news = rows.filter(([name, words]) => told.get(name) !== words && !words.endsWith(": waiting"));
    for (const [name, words] of news) told.set(name, words);
    if (news.length === 0) return;
    if (context.json) context.printJson({ type: "job", ...standing });
    else for (const [name, words] of news) context.tell(context.err.dim(`${name} · ${words}`));
  };
}

function wordsOf({ agent, status, session }: PartStatus): string {
  const said = `${agent}: ${status}`;
  return status === "needs-approval" ? `${said}; look with: holdfast status ${session}` : said;
}

function conclude(context: Context, result: JobResult): number {
  const { outcome, text, turns, costUsd, job, ref, bytes = 0 } = result;
  const exitCode = EXIT_OF_OUTCOME[outcome.type];
  if (context.json) {
    context.printJson({ type: "result", ...result, exitCode });
    return exitCode;
  }
  if (text !== undefined) context.print(text);
  if (text !== undefined && Buffer.byteLength(text) < bytes) {
    context.tell(context.err.yellow(`Cut: the whole has ${bytes} bytes, under ${ref} in the transcript.`));
  }
  const words = `${describeOutcome(outcome)} · ${count(turns, "turn")} · ${describeCost(costUsd)} · job ${job}`;
  context.tell(exitCode === EXIT.ok ? context.err.dim(words) : context.err.red(words));
  return exitCode;
}

/** A job that goes on by itself. */
export function left(context: Context, { id, runId }: Job): number {
  if (context.json) context.printJson({ type: "started", job: id, runId });
  else {
    context.print(id);
    context.tell(context.err.dim(`Look at it with \`holdfast job status ${id}\`.`));
  }
  return EXIT.ok;
}
