import { buildAgentEvent, type EventContext, getPositionRange } from "../../conversation/agent-event.ts";
import { buildCompactionBlocks } from "../../conversation/compaction-blocks.ts";
import { buildConfigSnapshot } from "../../conversation/config-snapshot.ts";
import { buildLoopChain } from "../../conversation/loop-tree.ts";
import { addUsage, type Cost, NO_USAGE } from "../../core/budget/usage.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentEvent } from "../../schema/agent-event.ts";
import type { AgentMessage, Usage } from "../../schema/message.ts";
import type { LoopEvent } from "../../schema/record.ts";
import type { RecordedLoop, RecordedSession } from "../../schema/recorded-session.ts";
import { findLeftBranches } from "../../store/transcript/find-left-branches.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { createUnknownSessionError, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { SessionRecorder } from "../interop/session-recorder.ts";
import { getAgentId } from "../runs/agent-id.ts";
import { findNewestLoop } from "../runs/find-newest-loop.ts";
import { describeRun, isOpen } from "../runs/open-runs.ts";
import { readRefreshedSession } from "./abort-cut-off-loops.ts";
import { EvaluationEvents } from "./evaluation-events.ts";
import { sumRecordedCost } from "./sum-recorded-cost.ts";

/** A loop as the transcript stores it: its events refer to messages by position. */
export type StoredLoop = { readonly loop: LoopRecord; readonly events: readonly LoopEvent[] };

/** The whole session (SES-01 to SES-12), with its totals. */
export type SessionRecordWithTotals = RecordedSession & {
  /** The same loops as the transcript stores them, in order of start. */
  readonly storedLoops: readonly StoredLoop[];
  readonly headBranch: string;
  /** The loops from the first one to the one before the head; of parallel branches, only the chosen ones. */
  readonly activeChain: readonly string[];
  readonly totals: {
    readonly loops: number;
    readonly turns: number;
    readonly usage: Usage;
    /** `null` if the price of any loop is unknown. */
    readonly costUsd: Cost;
  };
};

/** Builds the session from the record alone, but asks the server whether a loop without an end still runs. */
export async function readSessionRecord(link: ClientLink, session: string): Promise<SessionRecordWithTotals> {
  try {
    const transcript = await link.storage.openExistingTranscript();
    const record = transcript && (await readRefreshedSession(link, transcript, session));
    if (transcript === undefined || record === undefined) throw createUnknownSessionError(link, session);
    const running = record.status === "running" && (await hasOpenRun(link, session));
    return await buildRecord(transcript, record, running);
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

/** If the server cannot be reached, the record's state applies. */
async function hasOpenRun(link: ClientLink, session: string): Promise<boolean> {
  try {
    const run = await describeRun(link, session);
    return run !== undefined && isOpen(run);
  } catch {
    return true;
  }
}

async function buildRecord(
  transcript: Transcript,
  record: SessionRecord,
  running: boolean,
): Promise<SessionRecordWithTotals> {
  const loops = await transcript.readLoops(record.id);
  const storedLoops = await Promise.all(
    loops.map(async (loop) => ({ loop, events: await transcript.readEvents(loop.loopId, 0) })),
  );
  const recorder = new SessionRecorder();
  for await (const event of readAgentEvents(transcript, record, storedLoops)) recorder.onEvent(event);
  if (!running) recorder.abortOpenLoops();
  const recorded = recorder.getSession(record.id);
  const blocks = await readCompactionBlocks(transcript, record, storedLoops);
  const loopsFromEvents = new Map(recorded?.loops.map((loop) => [loop.loopId, loop]));
  const all = loops.map((loop) => completeLoop(loop, record, loopsFromEvents, blocks));
  const chosen = findNewestLoop(loops);
  const chain = chosen === undefined ? [] : buildLoopChain(loops, chosen.loopId);
  const { spawn } = record;
  return {
    sessionId: record.id,
    agentId: getAgentId(record),
    formation: toRecordedOrigin(record),
    scope: record.scope ?? "ephemeral",
    createdAt: formatTimestamp(record.createdAtMs),
    lastActiveAt: formatTimestamp(
      Math.max(record.createdAtMs, ...loops.map(({ startedAtMs }) => startedAtMs)),
    ),
    ...(spawn === undefined
      ? {}
      : {
          parentSpawnRef: {
            parentSessionId: spawn.session,
            parentLoopId: spawn.loopId,
            toolCallId: spawn.toolCallId,
            toolName: spawn.toolName,
          },
        }),
    loops: all,
    storedLoops,
    headBranch: record.headBranch,
    activeChain: chain.map(({ loopId }) => loopId),
    totals: {
      loops: loops.length,
      turns: loops.reduce((sum, { turns = 0 }) => sum + turns, 0),
      usage: loops.reduce((sum, { usage }) => addUsage(sum, usage ?? NO_USAGE), NO_USAGE),
      costUsd: sumRecordedCost(loops),
    },
  };
}

/** Converts the origin. A fork counts as an explicit start, because a caller requested it. */
function toRecordedOrigin({ origin, createdAtMs }: SessionRecord): RecordedSession["formation"] {
  const at = { timestamp: formatTimestamp(createdAtMs) };
  switch (origin.type) {
    case "first_loop":
      return { type: "first_loop", ...at };
    case "inactivity_timeout":
      return {
        type: "inactivity_timeout",
        thresholdSecs: origin.thresholdSecs,
        previousSessionId: origin.previousSession,
        ...at,
      };
    default:
      return { type: "explicit", ...at };
  }
}

function formatTimestamp(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** Completes a loop from its events, or from its row where a crash cut off its events. */
function completeLoop(
  loop: LoopRecord,
  record: SessionRecord,
  fromEvents: ReadonlyMap<string, RecordedLoop>,
  blocks: ReadonlyMap<string, RecordedLoop["compactionBlock"]>,
): RecordedLoop {
  const known = fromEvents.get(loop.loopId);
  const block = blocks.get(loop.loopId);
  const fallback: RecordedLoop = {
    loopId: loop.loopId,
    sessionId: loop.session,
    agentId: getAgentId(record),
    ...omitUndefined({ parentLoopId: loop.parentLoopId }),
    continuationKind: loop.kind,
    startedAt: formatTimestamp(loop.startedAtMs),
    status: loop.status === "running" ? "aborted" : "completed",
    messages: [],
    turns: [],
    usage: loop.usage ?? NO_USAGE,
    events: [],
    childrenLoopIds: [],
    childLoopRefs: [],
  };
  return {
    ...(known ?? fallback),
    ...omitUndefined({ outcome: loop.outcome, costUsd: loop.costUsd }),
    ...(known?.endedAt === undefined && loop.endedAtMs !== undefined
      ? { endedAt: formatTimestamp(loop.endedAtMs) }
      : {}),
    ...(loop.status === "aborted" ? { status: "aborted" as const } : {}),
    ...omitUndefined({ compactionBlock: block }),
  };
}

/** Yields all recorded events with their messages, loop by loop. */
async function* readAgentEvents(
  transcript: Transcript,
  record: SessionRecord,
  loops: readonly StoredLoop[],
): AsyncGenerator<AgentEvent, void, void> {
  const groups = new EvaluationEvents();
  groups.read(await transcript.readEvaluations(record.id));
  const branches = await transcript.readBranches(record.id);
  for (const [index, { loop, events }] of loops.entries()) {
    const context = await createEventContext(transcript, record, loop);
    const bodies = events.map(({ body }) => body);
    const branchPath = [...findLeftBranches(branches, loop.branch, bodies), loop.branch];
    let branchIndex = 0;
    const [first, ...rest] = events;
    if (first !== undefined)
      yield buildAgentEvent(
        context,
        first,
        await readMessagesAt(transcript, record.id, branchPath[branchIndex]!, first),
      );
    yield* groups.eventsBeforeLoop(loop);
    for (const event of rest) {
      yield buildAgentEvent(
        context,
        event,
        await readMessagesAt(transcript, record.id, branchPath[branchIndex] ?? loop.branch, event),
      );
      if (event.body.type === "RevertApplied" && event.body.applied) branchIndex += 1;
    }
    const isLast = loops.slice(index + 1).every(({ loop: other }) => other.evaluation !== loop.evaluation);
    if (isLast) yield* groups.eventsAfterLoop(loop);
  }
}

async function readMessagesAt(
  transcript: Transcript,
  session: string,
  branch: string,
  { body }: LoopEvent,
): Promise<readonly AgentMessage[]> {
  const { from, to } = getPositionRange(body);
  if (from === to) return [];
  return (await transcript.readEntries(session, branch, from, to)).map(({ message }) => message);
}

async function createEventContext(
  transcript: Transcript,
  record: SessionRecord,
  loop: LoopRecord,
): Promise<EventContext> {
  const definition = await transcript.readDefinition(loop.definitionHash);
  return {
    agentId: getAgentId(record),
    agentName: definition?.name ?? record.agentName,
    sessionId: record.id,
    loopId: loop.loopId,
    parentLoopId: loop.parentLoopId,
    kind: loop.kind,
    config:
      definition === undefined
        ? { definitionHash: loop.definitionHash, model: loop.model }
        : buildConfigSnapshot(definition, loop.definitionHash),
  };
}

/** Returns what the last compaction of each loop retains of it and of earlier loops (PER-03). */
async function readCompactionBlocks(
  transcript: Transcript,
  { id }: SessionRecord,
  loops: readonly StoredLoop[],
): Promise<ReadonlyMap<string, RecordedLoop["compactionBlock"]>> {
  const blocks = new Map<string, RecordedLoop["compactionBlock"]>();
  for (const { loop, events } of loops) {
    const last = events.findLast(({ body }) => body.type === "CompactionEnded");
    if (last?.body.type !== "CompactionEnded") continue;
    const entries = await transcript.readEntries(id, loop.branch, 0, last.body.position + 1);
    for (const [loopId, block] of buildCompactionBlocks(
      entries,
      last.body.position,
      formatTimestamp(last.atMs),
    )) {
      blocks.set(loopId, block);
    }
  }
  return blocks;
}
