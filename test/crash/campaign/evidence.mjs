import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { readEffects } from "./effects.mjs";
import { SCENARIOS } from "./scenarios.mjs";

// What is known of a run from outside: the vendor's log, the files that tools appended to, the transcript, Temporal's
// history, the machine's processes.

/** A command whose end was begun may take this long to be gone. */
const GONE_WITHIN_MS = 3000;

/** Of a result: enough to tell how it went. */
const SHOWN_CHARS = 160;

export async function collectEvidence(run, { client, vendorLog, transcript }) {
  const { session, scenario, sent, results, error } = run;
  const { ends = "answered", shortens = false, again = false } = SCENARIOS[scenario];
  const histories = (
    await Promise.all(run.runIds.map((runId) => readHistories(client, session, runId)))
  ).flat();
  return {
    session,
    scenario,
    asked: { ends, shortens, again },
    sent,
    results,
    ...(error === undefined ? {} : { error }),
    vendor: vendorLog.of(session),
    branches: await readBranches(transcript, session, run.brought),
    inbox: (await transcript.readInbox(session)).map(({ id }) => id),
    loops: (await readLoops(transcript, session)).slice(run.brought?.loops ?? 0),
    histories,
    effects: await readEffects(run.workspace),
    running: await listStillRunning(histories.map(({ runId }) => `${runId}/`)),
  };
}

async function readBranches(transcript, session, brought) {
  const branches = await transcript.readBranches(session);
  return await Promise.all(
    branches.map(async ({ id, parent, from }) => {
      // A session that was begun at a place of another one has what stands before it from there; so has one that was
      // brought in from a file.
      const begun = parent ?? from ?? (brought && { position: brought.entries });
      const length = await transcript.countEntries(session, id);
      const entries = await transcript.readEntries(session, id, begun?.position ?? 0, length);
      const place = begun === undefined ? {} : { parent: begun };
      return { id, ...place, length, entries: entries.map(formatEntry) };
    }),
  );
}

function formatEntry({ position, origin, messageId, message }) {
  const parts = Array.isArray(message.content) ? message.content : [];
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  const nonce = /\[answer (\d+)\]/.exec(text)?.[1];
  const notes = [...JSON.stringify(message).matchAll(/\[notes (\d+)\]/g)].map(([, one]) => Number(one));
  const calls = parts.flatMap(({ type, id, name, arguments: args }) =>
    type === "toolCall"
      ? [{ id, name, label: args.label ?? /CALL (\S+) start/.exec(args.command ?? "")?.[1] }]
      : [],
  );
  return {
    position,
    origin,
    role: message.role,
    ...(messageId === undefined ? {} : { messageId }),
    ...(nonce === undefined || message.role !== "assistant" ? {} : { nonce: Number(nonce) }),
    ...(message.role === "extension" && notes.length > 0 ? { notes } : {}),
    ...(message.role === "assistant" ? { stopReason: message.stopReason } : {}),
    ...(calls.length === 0 ? {} : { calls }),
    ...(message.role === "toolResult"
      ? { toolCallId: message.toolCallId, isError: message.isError, said: text.slice(0, SHOWN_CHARS) }
      : {}),
  };
}

async function readLoops(transcript, session) {
  const loops = await transcript.readLoops(session);
  return await Promise.all(
    loops.map(async ({ loopId, status, outcome, branch }) => ({
      loopId,
      status,
      branch,
      outcome: outcome?.type,
      events: (await transcript.readEvents(loopId, 0)).map(({ sequence, body }) => [sequence, body.type]),
    })),
  );
}

const getAttributes = (event) =>
  Object.entries(event).find(([name, value]) => name.endsWith("Attributes") && value != null);

/** Of a run and of all that it has continued as. */
async function readHistories(client, session, runId) {
  const histories = [];
  for (let next = runId; next; ) {
    const { events = [] } = await client.workflow.getHandle(session, next).fetchHistory();
    const named = events.map((event) => getAttributes(event) ?? ["none", {}]);
    const [last, { newExecutionRunId } = {}] = named.at(-1) ?? [];
    histories.push({
      runId: next,
      events: events.length,
      end: last?.replace(/^workflowExecution|EventAttributes$/g, ""),
      models: listCompleted(named, "call-model"),
      failedTasks: named.flatMap(([name, { cause, failure }]) =>
        name === "workflowTaskFailedEventAttributes"
          ? [{ cause: Number(cause), message: failure?.message }]
          : [],
      ),
    });
    next = last === "workflowExecutionContinuedAsNewEventAttributes" ? newExecutionRunId : undefined;
  }
  return histories;
}

/** Activities of a type that have ended with a result. */
function listCompleted(named, type) {
  const ids = named.map(([name, { activityType }], index) =>
    name === "activityTaskScheduledEventAttributes" && activityType?.name === type ? index + 1 : undefined,
  );
  return named.filter(
    ([name, { scheduledEventId }]) =>
      name === "activityTaskCompletedEventAttributes" && ids.includes(Number(scheduledEventId)),
  ).length;
}

/** Command lines of what the tool calls of these runs have left running. */
async function listStillRunning(prefixes) {
  const until = Date.now() + GONE_WITHIN_MS;
  for (;;) {
    const running = listMarked(prefixes);
    if (running.length === 0 || Date.now() > until) return running;
    await sleep(50);
  }
}

function listMarked(prefixes) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
        if (/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2))) return [];
        const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
        const isOurs = prefixes.some((prefix) => environment.includes(`HOLDFAST_CALL=${prefix}`));
        return isOurs
          ? [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").slice(0, 200)]
          : [];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
}
