/** The model is told that nobody knows; an unsafe call is not run again then. */
const UNKNOWN = /^The outcome of this call is unknown/;
/** Answered without being run. */
const NOT_RUN = /^(Skipped due to queued user message|Not run:|Refused)/;

const UNSAFE = ["bash", "effect_unsafe"];

/** Each call of an answer has one result, and what its tool has done in the world fits that result. */
export function checkCalls({ branches, effects }) {
  const objections = branches.flatMap(checkResults);
  const calls = branches.flatMap(({ entries }) => attachResults(entries));
  const labels = new Set([...calls.map(({ label }) => label), ...effects.map(({ label }) => label)]);
  for (const label of labels) {
    objections.push(
      ...checkEffects(
        label,
        calls.filter((call) => call.label === label),
        effects.filter((effect) => effect.label === label),
      ),
    );
  }
  return objections;
}

/** Answers that broke off are in the record too; their calls are nobody's. */
const isWhole = ({ stopReason }) => stopReason !== "aborted" && stopReason !== "error";

function checkResults({ id: branch, entries }) {
  const objections = [];
  for (const [index, answer] of entries.entries()) {
    if (answer.role !== "assistant" || !isWhole(answer)) continue;
    const results = listResultsAfter(entries, index);
    for (const { id, label } of answer.calls ?? []) {
      const found = results.filter(({ toolCallId }) => toolCallId === id).length;
      if (found === 0) objections.push({ kind: "lost", what: `the result of ${label} on ${branch}` });
      if (found > 1)
        objections.push({ kind: "duplicated", what: `${label} has ${found} results on ${branch}` });
    }
    const known = new Set((answer.calls ?? []).map(({ id }) => id));
    const strays = results.filter(({ toolCallId }) => !known.has(toolCallId));
    objections.push(
      ...strays.map(({ toolCallId }) => ({
        kind: "duplicated",
        what: `a result of ${toolCallId}, which nobody has called`,
      })),
    );
  }
  return objections;
}

function listResultsAfter(entries, index) {
  const next = entries.findIndex(({ role }, at) => at > index && role === "assistant");
  return entries.slice(index + 1, next === -1 ? undefined : next).filter(({ role }) => role === "toolResult");
}

function attachResults(entries) {
  return entries.flatMap((answer, index) => {
    if (answer.role !== "assistant" || !isWhole(answer)) return [];
    const results = listResultsAfter(entries, index);
    return (answer.calls ?? []).map((call) => ({
      ...call,
      result: results.find(({ toolCallId }) => toolCallId === call.id),
    }));
  });
}

function checkEffects(label, calls, effects) {
  const [call, second] = calls;
  const starts = effects.filter(({ what }) => what === "start");
  const ends = effects.filter(({ what }) => what === "end");
  if (call === undefined)
    return [{ kind: "unsafe-twice", what: `${label} ran ${starts.length} times, and nobody has called it` }];
  if (second !== undefined)
    return [{ kind: "duplicated", what: `the call ${label} is in the record ${calls.length} times` }];
  const objections = [];
  const isUnsafe = UNSAFE.includes(call.name);
  if (isUnsafe && starts.length > 1)
    objections.push({ kind: "unsafe-twice", what: `${label} was started ${starts.length} times` });
  const keys = new Set(starts.map(({ key }) => key));
  if (keys.size > 1) objections.push({ kind: "key", what: `${label} was run under ${keys.size} keys` });
  const { result } = call;
  if (result === undefined) return objections;
  if (!result.isError && ends.length === 0)
    objections.push({
      kind: "lost",
      what: `${label} has a good result, and did not come to its end: ${result.said}`,
    });
  if (NOT_RUN.test(result.said) && starts.length > 0)
    objections.push({ kind: "result", what: `${label} was run, and its result says: ${result.said}` });
  if (UNKNOWN.test(result.said) && !isUnsafe)
    objections.push({
      kind: "result",
      what: `${label} is ${call.name}, and nobody wants to know what became of it`,
    });
  return objections;
}
