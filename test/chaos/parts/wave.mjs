// Waves of the crash campaign: agents by the dozen over workers, a scripted vendor and tools, all as processes of their own.
import { playWave } from "../../crash/campaign/wave.mjs";
import { createFinding } from "../findings.mjs";

/** One run of each kind that works for a while. */
export const VARIED_SCENARIOS = [
  "plain",
  "parallel",
  "batched-with-steering",
  "compaction",
  "overflow",
  "rate-limited",
  "continue-as-new",
  "rerun",
];

/** The same with few, for what takes long by itself. */
export const FEW_SCENARIOS = ["plain", "parallel", "batched-with-steering"];

/** Runs are in the middle of their work by then. */
export const AT_WORK_MS = 2_000;

/**
 * Plays a wave on the shared Temporal server. `during({ keep, keepers, runs, home, killLog })` is what goes wrong.
 *
 * @returns Evidence for `judgeWave`.
 */
export async function play(stage, { during, workers = [[]], scenarios = VARIED_SCENARIOS, ...more }) {
  const campaign = await stage.campaign();
  const wave = { name: stage.name, workers, scenarios, during, ...more };
  const { violations, evidence, kills } = await playWave({ ...campaign, folder: stage.folder }, wave);
  return { violations, runs: evidence, kills };
}

/** What the campaign's judge objects to, as our counts. Every other kind is `broken`. */
const VIOLATION_COUNTS = {
  lost: "lost",
  result: "lost",
  duplicated: "doubled",
  "repaid-stored": "doubled",
  key: "doubled",
  "unsafe-twice": "unsafeTwice",
  "left-running": "leaked",
};

const IN_HISTORY = /answers in the transcript, \d+ in the history/;

/** Not run because the agent was steered; nothing is wrong with it. */
const STEERED = /^Skipped due to queued user message/;

/**
 * @param evidence - What `play` returns.
 * @param options.ownEnds - Workers may end by themselves: what happens to them is what is played.
 * @param options.workersDied - A worker has died, so that nobody may know the outcome of an unsafe call. Otherwise every
 *   call has to run.
 */
export function judgeWave({ violations, runs }, { workersDied = false, ownEnds = false } = {}) {
  const unfinished = new Map(
    violations
      .filter(({ kind }) => kind === "end")
      .map(({ session, what }) => [session, what])
      .reverse(),
  );
  const others = violations.filter(
    ({ kind, what, session }) =>
      kind !== "end" &&
      !(ownEnds && kind === "worker") &&
      // Of a run that did not end well, the history knows less than the transcript.
      !(unfinished.has(session) && IN_HISTORY.test(what)),
  );
  return [
    ...[...unfinished].map(([session, what]) => createFinding("stuck", what, session)),
    ...others.map(({ kind, what, session }) =>
      createFinding(VIOLATION_COUNTS[kind] ?? "broken", `${kind}: ${what}`, session),
    ),
    ...(workersDied ? [] : runs.flatMap(judgeErrors)),
  ];
}

/** No worker died and every tool works: a result that says otherwise is false, and its call is lost. */
function judgeErrors({ session, branches }) {
  return branches
    .flatMap(({ entries }) => entries)
    .filter(({ role, isError, said }) => role === "toolResult" && isError && !STEERED.test(said))
    .map(({ toolCallId, said }) =>
      createFinding("lost", `the call ${toolCallId} did not run: ${said}`, session),
    );
}
