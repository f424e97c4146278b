import { buildCompactionBlocks } from "../../conversation/compaction-blocks.ts";
import { buildLoopChain } from "../../conversation/loop-tree.ts";
import { addUsage, type Cost, NO_USAGE } from "../../core/budget/usage.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { formatTimestamp } from "../../platform/text/timestamp.ts";
import type { AgentEvent } from "../../schema/agent-event.ts";
import type { LoopEvent } from "../../schema/loop-event.ts";
import type { Usage } from "../../schema/message.ts";
import type { RecordedLoop, RecordedSession } from "../../schema/recorded-session.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { createEmptyLoop } from "../interop/recorder-drafts.ts";
import { SessionRecorder } from "../interop/session-recorder.ts";
import { getAgentId } from "../runs/agent-id.ts";
import { findNewestLoop } from "../runs/find-newest-loop.ts";
import { describeRun, isOpen } from "../runs/open-runs.ts";
import { AgentEventReader } from "./agent-event-reader.ts";
import { readFromTranscript } from "./read-from-transcript.ts";
import { RecordedEventReader } from "./recorded-event-reader.ts";
import { sumRecordedCost } from "./sum-recorded-cost.ts";

/** A loop as the transcript stores it: its events refer to messages by position. */
export type StoredLoop = {
  /** The loop's own record. */
  readonly loop: LoopRecord;
  /** The loop's events, in order. */
  readonly events: readonly LoopEvent[];
};

/** The whole session (SES-01 to SES-12), with its totals. */
export type SessionRecordWithTotals = RecordedSession & {
  /** The same loops as the transcript stores them, in order of start. */
  readonly storedLoops: readonly StoredLoop[];
  /** The session's title; absent for one without a prompt. */
  readonly title?: string;
  /** The branch that the next run continues. */
  readonly headBranch: string;
  /** The loops from the first one to the one before the head; of parallel branches, only the chosen ones. */
  readonly activeChain: readonly string[];
  /** The sums over all loops. */
  readonly totals: {
    /** The number of loops. */
    readonly loops: number;
    /** The number of turns. */
    readonly turns: number;
    readonly usage: Usage;
    /** `null` if the price of any loop is unknown. */
    readonly costUsd: Cost;
  };
};

/** Builds the session from the record alone, but asks the server whether a loop without an end still runs. */
export async function readSessionRecord(link: ClientLink, session: string): Promise<SessionRecordWithTotals> {
  return await readFromTranscript(link, session, async (transcript, record) => {
    const running = record.status === "running" && (await hasOpenRun(link, session));
    return await buildRecord(transcript, record, running);
  });
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
  for await (const event of readAgentEvents(transcript, record.id)) recorder.onEvent(event);
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
    ...omitUndefined({ title: record.title?.text }),
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
    ...createEmptyLoop(loop.session, loop.loopId, getAgentId(record), formatTimestamp(loop.startedAtMs)),
    ...omitUndefined({ parentLoopId: loop.parentLoopId, usage: loop.usage }),
    continuationKind: loop.kind,
    status: loop.status === "running" ? "aborted" : "completed",
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

/** Yields all recorded events with their messages. */
async function* readAgentEvents(
  transcript: Transcript,
  session: string,
): AsyncGenerator<AgentEvent, void, void> {
  const open = async (): Promise<Transcript> => transcript;
  const events = new AgentEventReader(open, session);
  for await (const item of new RecordedEventReader(open, session).readNew())
    yield item.type === "group" ? item.event : await events.complete(item);
}

/**
 * Returns what the last compaction of each loop retains of it and of earlier loops (PER-03), unless that compaction was
 * removed since.
 */
async function readCompactionBlocks(
  transcript: Transcript,
  { id }: SessionRecord,
  loops: readonly StoredLoop[],
): Promise<ReadonlyMap<string, RecordedLoop["compactionBlock"]>> {
  const blocks = new Map<string, RecordedLoop["compactionBlock"]>();
  const records = loops.map(({ loop }) => loop);
  for (const { loop, events } of loops) {
    if (loop.kind.type === "compaction" && loop.kind.removes === true) {
      for (const { loopId } of buildLoopChain(records, loop.loopId)) blocks.delete(loopId);
    }
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
