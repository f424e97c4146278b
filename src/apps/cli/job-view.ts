import { setTimeout as pause } from "node:timers/promises";
import type { Holdfast, Job, JobResult, JobState, PartStatus } from "../../client/index.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Context } from "./context.ts";
import { EXIT, OUTCOME_EXIT_CODES } from "./exit-codes.ts";
import { handleInterrupts } from "./interrupts.ts";
import { describeOutcome, describeTotals } from "./text.ts";

/** The interval between two reads of a job's status. */
const POLL_INTERVAL_MS = 1000;

/** Follows a job until it ends: prints the start and end of each part on standard error, the result on standard output. */
export async function followJob(context: Context, holdfast: Holdfast, job: Job): Promise<number> {
  const leave = new AbortController();
  const off = handleInterrupts(
    context.streams.signals,
    () => {
      context.report(context.err.yellow("\nStopping the job … Press Ctrl-C again to exit."));
      job.stop("interrupted at the terminal").catch((error: Error) => context.report(error.message));
    },
    () => leave.abort(),
  );
  try {
    const result = job.tryResult({ signal: leave.signal });
    const over = result.then(
      () => true,
      () => true,
    );
    const tell = createReporter(context);
    do tell(await readJobStatus(holdfast, job));
    while (!(await Promise.race([over, pause(POLL_INTERVAL_MS, false)])));
    if (leave.signal.aborted) {
      context.report(
        context.err.yellow(`Left. The job continues; \`holdfast job status ${job.id}\` displays it.`),
      );
      return EXIT.interrupted;
    }
    return await reportResult(context, job, await result);
  } finally {
    off();
  }
}

/** How many sessions each poll checks for calls that wait for approval. */
const MAX_CHECKED_SESSIONS = 20;

/** Reads the job's status, and for each running part whether it waits for approval. */
async function readJobStatus(holdfast: Holdfast, job: Job): Promise<JobState> {
  const jobStatus = await job.status();
  if (jobStatus.job === undefined) return jobStatus;
  const checkedParts = jobStatus.job.parts
    .filter(({ state }) => state === "running")
    .slice(0, MAX_CHECKED_SESSIONS);
  const waiting = new Set<string>();
  await Promise.all(
    checkedParts.map(async ({ session }) => {
      const partStatus = await holdfast
        .session(session)
        .status()
        .catch(() => undefined);
      if (partStatus?.status === "needs-approval") waiting.add(session);
    }),
  );
  const parts = jobStatus.job.parts.map(
    (part): PartStatus => (waiting.has(part.session) ? { ...part, status: "needs-approval" } : part),
  );
  return { ...jobStatus, job: { ...jobStatus.job, parts } };
}

/** Returns a function that reports each change of a part's status once, and when a sleeping job wakes. */
function createReporter(context: Context): (standing: JobState) => void {
  const reported = new Map<string, string>();
  return (standing) => {
    const rows = [
      ...(standing.job?.parts ?? []).map((part) => [part.name, formatPart(part)] as const),
      ...(standing.job?.sleepsUntilMs === undefined ? [] : [["job", standing.statusText ?? ""] as const]),
    ];
    const news = rows.filter(([name, words]) => reported.get(name) !== words && !words.endsWith(": waiting"));
    for (const [name, words] of news) reported.set(name, words);
    if (news.length === 0) return;
    if (context.json) context.printJson({ type: "job", ...standing });
    else for (const [name, words] of news) context.report(context.err.dim(`${name} · ${words}`));
  };
}

function formatPart({ agent, status, session }: PartStatus): string {
  const text = `${agent}: ${status}`;
  return status === "needs-approval" ? `${text}; to inspect it: holdfast status ${session}` : text;
}

async function reportResult(context: Context, job: Job, result: JobResult): Promise<number> {
  const { outcome, text, turns, costUsd, ref, bytes = 0 } = result;
  const { durationMs } = await job.status();
  const exitCode = OUTCOME_EXIT_CODES[outcome.type];
  if (context.json) {
    context.printJson({ type: "result", ...result, ...omitUndefined({ durationMs }), exitCode });
    return exitCode;
  }
  if (text !== undefined) context.print(text);
  if (text !== undefined && Buffer.byteLength(text) < bytes) {
    context.report(
      context.err.yellow(
        `Truncated: the full result has ${bytes} bytes and is stored under ${ref} in the transcript.`,
      ),
    );
  }
  const totals = describeTotals({ turns, costUsd, ...omitUndefined({ durationMs }) });
  const summary = `${describeOutcome(outcome)} · ${totals} · job ${job.id}`;
  context.report(exitCode === EXIT.ok ? context.err.dim(summary) : context.err.red(summary));
  return exitCode;
}

/** Reports a job that continues without this command. */
export function reportLeftRunning(context: Context, { id, runId }: Job): number {
  if (context.json) context.printJson({ type: "started", job: id, runId });
  else {
    context.print(id);
    context.report(context.err.dim(`To inspect it: \`holdfast job status ${id}\`.`));
  }
  return EXIT.ok;
}
