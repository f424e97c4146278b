// Judges one run by what is known of it from outside. Pure, so that tests can show that each objection can be made.

import { isNormalTaskFailure } from "../../support/normal-task-failures.mjs";
import { checkCalls } from "./check-calls.mjs";
import { checkRequests } from "./check-requests.mjs";

/** How a workflow ends that was not cut off. */
const ENDS = ["Completed", "ContinuedAsNew"];

/**
 * @returns `violations`: what was promised and did not hold, each with its kind; `again`: how often a question was asked
 *   once more, by what had become of the time before.
 */
export function checkRun(evidence) {
  const { again, violations: payments } = checkRequests(evidence);
  const violations = [
    ...checkEnd(evidence),
    ...checkMessages(evidence),
    ...checkEntries(evidence),
    ...checkLoops(evidence),
    ...checkCalls(evidence),
    ...payments,
    ...checkHistories(evidence),
    ...evidence.running.map((command) => ({ kind: "left-running", what: command })),
  ];
  return { violations: violations.map((one) => ({ ...one, session: evidence.session })), again };
}

function checkEnd({ asked, results, error, loops }) {
  const expected = asked.again ? 2 : 1;
  return [
    ...(error === undefined ? [] : [{ kind: "end", what: error }]),
    ...(results.length === expected
      ? []
      : [{ kind: "end", what: `${results.length} of ${expected} runs have ended` }]),
    ...results
      .filter(({ status, outcome }) => status !== "completed" || outcome?.type !== asked.ends)
      .map((result) => ({ kind: "end", what: `ended as ${JSON.stringify(result)}, not as ${asked.ends}` })),
    ...(loops.length === expected
      ? []
      : [{ kind: "end", what: `${loops.length} loops for ${expected} runs` }]),
  ];
}

/** What people have sent is in the conversation, or in the inbox when it came too late: once, and in order. */
function checkMessages({ sent, branches, inbox, vendor, asked }) {
  const entries = branches.flatMap((branch) => branch.entries);
  const ids = [...entries.flatMap(({ messageId }) => messageId ?? []), ...inbox];
  const objections = sent.flatMap(({ id }) => {
    const times = ids.filter((one) => one === id).length;
    if (times === 0) return [{ kind: "lost", what: `message ${id}` }];
    return times > 1 ? [{ kind: "duplicated", what: `message ${id} is there ${times} times` }] : [];
  });
  for (const kind of ["steer", "followUp"]) {
    const order = sent.filter((one) => one.kind === kind).map(({ id }) => ids.indexOf(id));
    if (order.some((at, nth) => nth > 0 && at < order[nth - 1]))
      objections.push({
        kind: "order",
        what: `${kind} messages are not in the order in which they were sent`,
      });
  }
  const unknown = ids.filter((id) => !sent.some((one) => one.id === id));
  objections.push(...unknown.map((id) => ({ kind: "duplicated", what: `message ${id} was never sent` })));
  if (!asked.shortens) objections.push(...checkModelMessages(entries, vendor));
  return objections;
}

/** What the model itself was shown: nothing twice, and at last everything that was in the conversation by then. */
function checkModelMessages(entries, vendor) {
  const requests = vendor.filter(({ type }) => type === "asked");
  const twice = requests.flatMap(({ nonce, shown: modelMessages }) =>
    modelMessages.length === new Set(modelMessages).size
      ? []
      : [{ kind: "duplicated", what: `request ${nonce} shows a message twice` }],
  );
  const answers = entries.filter(({ role, nonce }) => role === "assistant" && nonce !== undefined);
  const last = answers.reduce(
    (found, one) => (found === undefined || one.position >= found.position ? one : found),
    undefined,
  );
  const modelMessages = requests.find(({ nonce }) => nonce === last?.nonce)?.shown ?? [];
  const missed = entries.filter(
    ({ messageId, position }) =>
      messageId !== undefined && position < (last?.position ?? 0) && !modelMessages.includes(messageId),
  );
  return [
    ...twice,
    ...missed.map(({ messageId }) => ({ kind: "lost", what: `message ${messageId} was not shown` })),
  ];
}

function checkEntries({ branches, asked }) {
  const expected = asked.again ? 2 : 1;
  const objections =
    branches.length === expected
      ? []
      : [{ kind: "duplicated", what: `${branches.length} branches, not ${expected}` }];
  for (const { id, parent, length, entries } of branches) {
    const from = parent?.position ?? 0;
    const gap = entries.find(({ position }, index) => position !== from + index);
    if (gap !== undefined || from + entries.length !== length)
      objections.push({
        kind: "lost",
        what: `branch ${id} has a gap at ${gap?.position ?? from + entries.length}`,
      });
  }
  return objections;
}

function checkLoops({ loops, asked }) {
  const expected = { answered: "completed", stopped: "aborted" }[asked.ends];
  return loops.flatMap(({ loopId, status, outcome, events }) => {
    const ends = events.filter(([, type]) => type === "AgentEnd").length;
    const isWhole = events.every(([sequence], index) => sequence === index);
    return [
      ...(ends === 1 && events.at(-1)?.[1] === "AgentEnd"
        ? []
        : [{ kind: "terminal", what: `${loopId} has ${ends} AgentEnd` }]),
      ...(isWhole ? [] : [{ kind: "lost", what: `${loopId} has a gap in its events` }]),
      ...(status === expected && outcome === asked.ends
        ? []
        : [{ kind: "end", what: `the record of ${loopId} says ${status}, ${outcome}` }]),
    ];
  });
}

/** Temporal's own record: each run is closed, no task has failed, and each answer in it is in the transcript. */
function checkHistories({ histories, branches, asked }) {
  const objections = histories.flatMap(({ runId, end, failedTasks }) => [
    ...(ENDS.includes(end) ? [] : [{ kind: "end", what: `the history of ${runId} ends with ${end}` }]),
    ...failedTasks
      .filter(({ cause }) => !isNormalTaskFailure(cause))
      .map(({ cause, message }) => ({
        kind: "history",
        what: `a workflow task failed, ${cause}: ${message}`,
      })),
  ]);
  const answers = branches
    .flatMap(({ entries }) => entries)
    .filter(({ role }) => role === "assistant").length;
  const known = histories.reduce((sum, { models }) => sum + models, 0);
  if (asked.ends === "answered" && answers !== known) {
    const kind = answers < known ? "lost" : "duplicated";
    objections.push({ kind, what: `${answers} answers in the transcript, ${known} in the history` });
  }
  return objections;
}
