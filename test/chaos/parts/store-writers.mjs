// Writers of a transcript in PostgreSQL that note what was acknowledged to them, and a judge that looks for it afterwards.
import { setTimeout as sleep } from "node:timers/promises";
import { PostgresTranscript } from "../../../dist/store/transcript/postgres/postgres-transcript.js";
import { createFinding } from "../findings.mjs";
import { eventually } from "./eventually.mjs";

const NOTHING = { entries: [], events: [] };
const TEXT = "A sentence of an answer, as models write them. ".repeat(10);

/** So many sessions write side by side: many transactions are open at every moment. */
const WRITERS = 24;

/**
 * Writes while something happens: claim, answer, claim, answer. What fails is tried again, as a worker would.
 *
 * @param happens - Begins once every session has written; the writers end when it resolves.
 * @returns For each session what was acknowledged, and what is in the store at the end.
 */
export async function writeThrough(url, happens) {
  const transcript = await PostgresTranscript.open({ url });
  const watch = { isOver: false, begun: 0 };
  const writing = Promise.all(
    Array.from({ length: WRITERS }, (_, writer) => write(transcript, `writer-${writer}`, watch)),
  );
  try {
    await Promise.race([
      writing,
      eventually(() => watch.begun === WRITERS, { what: "an answer of each writer" }),
    ]);
    try {
      await happens();
    } finally {
      watch.isOver = true;
    }
    return { sessions: await readBack(url, await writing) };
  } finally {
    writing.catch(() => {});
    await transcript.close();
  }
}

async function write(transcript, session, watch) {
  const key = { session, run: `run-${session}`, call: 0, generation: 1, process: "chaos" };
  const prompts = [{ id: `prompt-${session}`, text: "Go", atMs: 1 }];
  const segment = {
    definitionHash: "d",
    agentName: "chaos",
    model: "m",
    segment: "chaos",
    kind: { type: "initial" },
  };
  const opening = { step: { ...key, number: 0, kind: "open-loop" }, atMs: 1, ...segment, prompts };
  const { loopId } = await backOff(() => transcript.openLoop(opening));
  const claims = [];
  const answers = [];
  try {
    for (let at = 1; !watch.isOver; at += 1) await writeOne(at);
    return { session, claims, answers };
  } catch (error) {
    // The store says by itself that something is gone: `behind`.
    return { session, claims, answers, refused: error.message };
  }

  async function writeOne(at) {
    const step = { ...key, number: at, kind: "call-model", activityId: String(at) };
    const target = { loopId, branch: "main", base: at };
    // One attempt that is acknowledged counts; one that is not may have been carried out or not.
    let attempts = 0;
    const claimed = await backOff(() => {
      attempts += 1;
      return transcript.claim(step, target, NOTHING, at);
    });
    claims.push({ at, attempts, wasLost: claimed.lostExecution !== undefined });
    const message = { role: "user", content: [{ type: "text", text: `${at} ${TEXT}` }], timestamp: at };
    const entries = [{ position: at, origin: "model", message }];
    await backOff(() =>
      transcript.store({ ...target, step, atMs: at, outbox: NOTHING, entries, result: { at } }),
    );
    answers.push(at);
    if (at === 1) watch.begun += 1;
  }
}

/** Faults of a store that pass when their cause is gone. */
const TRANSIENT_FAULTS = ["busy", "unreachable"];

/** How long a store may be away before a writer gives up. */
const DEADLINE_MS = 60_000;

async function backOff(attempt) {
  const until = Date.now() + DEADLINE_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!TRANSIENT_FAULTS.includes(error?.fault) || Date.now() > until) throw error;
      await sleep(100);
    }
  }
}

/** As a process sees it that opens it now. */
async function readBack(url, written) {
  const transcript = await PostgresTranscript.open({ url });
  const sessions = [];
  try {
    for (const one of written) {
      const length = await transcript.countEntries(one.session, "main");
      const entries = await transcript.readEntries(one.session, "main", 0, length);
      const steps = await transcript.readSteps(one.session);
      sessions.push({
        ...one,
        entries: entries
          .filter(({ origin }) => origin === "model")
          .map(({ position, message }) => ({ position, at: message.timestamp })),
        steps: steps.map(({ number, executions, storedAtMs }) => ({
          number,
          executions,
          isStored: storedAtMs !== undefined,
        })),
      });
    }
    return sessions;
  } finally {
    await transcript.close();
  }
}

/** Everything acknowledged is there, once. */
export function judgeWriters({ sessions }) {
  return sessions.flatMap(({ session, claims, answers, refused, entries, steps }) => {
    const stepAt = new Map(steps.map((step) => [step.number, step]));
    return [
      ...claims
        .filter(({ at }) => !stepAt.has(at))
        .map(({ at }) => createFinding("lost", `claim ${at} was acknowledged and is gone`, session)),
      ...claims
        .filter(({ attempts, wasLost }) => attempts === 1 && wasLost)
        .map(({ at }) =>
          createFinding("lost", `claim ${at} was taken for that of a dead worker, and none died`, session),
        ),
      ...answers
        .filter((at) => !entries.some((entry) => entry.at === at) || stepAt.get(at)?.isStored !== true)
        .map((at) => createFinding("lost", `answer ${at} was acknowledged and is gone`, session)),
      ...answers
        .filter((at) => entries.filter((entry) => entry.at === at).length > 1)
        .map((at) => createFinding("doubled", `answer ${at} is there more than once`, session)),
      ...(refused === undefined
        ? []
        : [createFinding("lost", `the store refuses to go on: ${refused}`, session)]),
      ...(answers.length > 0 ? [] : [createFinding("stuck", "nothing was written", session)]),
    ];
  });
}
