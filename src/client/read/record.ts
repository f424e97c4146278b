import { agentEvent, type EventPlace, positionsOf } from "../../conversation/agent-event.ts";
import { compactionBlocks } from "../../conversation/compaction-blocks.ts";
import { snapshotOf } from "../../conversation/config-snapshot.ts";
import { loopChainTo } from "../../conversation/loop-tree.ts";
import { addUsage, type Cost, NO_USAGE } from "../../core/budget/usage.ts";
import type { AgentEvent } from "../../schema/agent-event.ts";
import type { AgentMessage, Usage } from "../../schema/message.ts";
import type { LoopEvent } from "../../schema/record.ts";
import type { RecordedLoop, RecordedSession } from "../../schema/recorded-session.ts";
import { leftBranches } from "../../store/transcript/left-branches.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { Link } from "../connection/link.ts";
import { translated, unknownSession } from "../failures.ts";
import { SessionRecorder } from "../interop/session-recorder.ts";
import { agentIdOf } from "../runs/agent-id.ts";
import { newestLoop } from "../runs/newest-loop.ts";
import { describeRun, isOpen } from "../runs/tree.ts";
import { sessionSeen } from "./cut-off.ts";
import { recordedCost } from "./recorded-cost.ts";
import { RecordedGroups } from "./recorded-groups.ts";

/** A session whole (SES-01 to SES-12), with what it comes to. */
export type WholeRecord = RecordedSession & {
  readonly headBranch: string;
  /** From the first loop to the one that the session goes on behind: of branches, the chosen ones alone. */
  readonly activeChain: readonly string[];
  readonly totals: {
    readonly loops: number;
    readonly turns: number;
    readonly usage: Usage;
    /** `null` when the price of any loop is unknown. */
    readonly costUsd: Cost;
  };
};

/** Made of the record alone. Whether a loop that has not ended still runs, the server is asked. */
export async function wholeRecord(link: Link, session: string): Promise<WholeRecord> {
  try {
    const transcript = await link.storage.existing();
    const record = transcript && (await sessionSeen(link, transcript, session));
    if (transcript === undefined || record === undefined) throw unknownSession(link, session);
    const running = record.status === "running" && (await hasOpenRun(link, session));
    return await recordOf(transcript, record, running);
  } catch (error) {
    throw translated(error, link, session);
  }
}

/** A server that cannot be asked leaves what the record says. */
async function hasOpenRun(link: Link, session: string): Promise<boolean> {
  try {
    const run = await describeRun(link, session);
    return run !== undefined && isOpen(run);
  } catch {
    return true;
  }
}

async function recordOf(
  transcript: Transcript,
  record: SessionRecord,
  running: boolean,
): Promise<WholeRecord> {
  const loops = await transcript.loops(record.id);
  const recorder = new SessionRecorder();
  for await (const event of eventsOf(transcript, record, loops)) recorder.onEvent(event);
  if (!running) recorder.flush();
  const recorded = recorder.getSession(record.id);
  const blocks = await blocksOf(transcript, record, loops);
  const told = new Map(recorded?.loops.map((loop) => [loop.loopId, loop]));
  const all = loops.map((loop) => completed(loop, record, told, blocks));
  const chosen = newestLoop(loops);
  const chain = chosen === undefined ? [] : loopChainTo(loops, chosen.loopId);
  const { spawn } = record;
  return {
    sessionId: record.id,
    agentId: agentIdOf(record),
    formation: formationOf(record),
    scope: record.scope ?? "ephemeral",
    createdAt: timestamp(record.createdAtMs),
    lastActiveAt: timestamp(Math.max(record.createdAtMs, ...loops.map(({ startedAtMs }) => startedAtMs))),
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
    headBranch: record.headBranch,
    activeChain: chain.map(({ loopId }) => loopId),
    totals: {
      loops: loops.length,
      turns: loops.reduce((sum, { turns = 0 }) => sum + turns, 0),
      usage: loops.reduce((sum, { usage }) => addUsage(sum, usage ?? NO_USAGE), NO_USAGE),
      costUsd: recordedCost(loops),
    },
  };
}

/** A fork was asked for. */
function formationOf({ formation, createdAtMs }: SessionRecord): RecordedSession["formation"] {
  const at = { timestamp: timestamp(createdAtMs) };
  switch (formation.type) {
    case "first_loop":
      return { type: "first_loop", ...at };
    case "inactivity_timeout":
      return {
        type: "inactivity_timeout",
        thresholdSecs: formation.thresholdSecs,
        previousSessionId: formation.previousSession,
        ...at,
      };
    default:
      return { type: "explicit", ...at };
  }
}

function timestamp(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** What the events say of a loop; what its row says where they are silent, because a write was cut off. */
function completed(
  loop: LoopRecord,
  record: SessionRecord,
  told: ReadonlyMap<string, RecordedLoop>,
  blocks: ReadonlyMap<string, RecordedLoop["compactionBlock"]>,
): RecordedLoop {
  const known = told.get(loop.loopId);
  const block = blocks.get(loop.loopId);
  const silent: RecordedLoop = {
    loopId: loop.loopId,
    sessionId: loop.session,
    agentId: agentIdOf(record),
    ...(loop.parentLoopId === undefined ? {} : { parentLoopId: loop.parentLoopId }),
    continuationKind: loop.kind,
    startedAt: timestamp(loop.startedAtMs),
    status: loop.status === "running" ? "aborted" : "completed",
    messages: [],
    turns: [],
    usage: loop.usage ?? NO_USAGE,
    events: [],
    childrenLoopIds: [],
    childLoopRefs: [],
  };
  return {
    ...(known ?? silent),
    ...(loop.outcome === undefined ? {} : { outcome: loop.outcome }),
    ...(loop.costUsd === undefined ? {} : { costUsd: loop.costUsd }),
    ...(known?.endedAt === undefined && loop.endedAtMs !== undefined
      ? { endedAt: timestamp(loop.endedAtMs) }
      : {}),
    ...(loop.status === "aborted" ? { status: "aborted" as const } : {}),
    ...(block === undefined ? {} : { compactionBlock: block }),
  };
}

/** All recorded events, whole, loop by loop. */
async function* eventsOf(
  transcript: Transcript,
  record: SessionRecord,
  loops: readonly LoopRecord[],
): AsyncGenerator<AgentEvent, void, void> {
  const groups = new RecordedGroups();
  groups.read(await transcript.evaluations(record.id));
  const branches = await transcript.branches(record.id);
  for (const [index, loop] of loops.entries()) {
    const place = await placeOf(transcript, record, loop);
    const events = await transcript.events(loop.loopId, 0);
    const bodies = events.map(({ body }) => body);
    const ways = [...leftBranches(branches, loop.branch, bodies), loop.branch];
    let way = 0;
    const [first, ...rest] = events;
    if (first !== undefined)
      yield agentEvent(place, first, await messagesAt(transcript, record.id, ways[way]!, first));
    yield* groups.before(loop);
    for (const event of rest) {
      yield agentEvent(
        place,
        event,
        await messagesAt(transcript, record.id, ways[way] ?? loop.branch, event),
      );
      if (event.body.type === "RevertApplied" && event.body.applied) way += 1;
    }
    const isLast = loops.slice(index + 1).every(({ evaluation }) => evaluation !== loop.evaluation);
    if (isLast) yield* groups.behind(loop);
  }
}

async function messagesAt(
  transcript: Transcript,
  session: string,
  branch: string,
  { body }: LoopEvent,
): Promise<readonly AgentMessage[]> {
  const { from, to } = positionsOf(body);
  if (from === to) return [];
  return (await transcript.entries(session, branch, from, to)).map(({ message }) => message);
}

async function placeOf(transcript: Transcript, record: SessionRecord, loop: LoopRecord): Promise<EventPlace> {
  const definition = await transcript.definition(loop.definitionHash);
  return {
    agentId: agentIdOf(record),
    agentName: definition?.name ?? record.agentName,
    sessionId: record.id,
    loopId: loop.loopId,
    parentLoopId: loop.parentLoopId,
    kind: loop.kind,
    config:
      definition === undefined
        ? { definitionHash: loop.definitionHash, model: loop.model }
        : snapshotOf(definition, loop.definitionHash),
  };
}

/** What the last compaction of each loop shows of it and of loops before it (PER-03). */
async function blocksOf(
  transcript: Transcript,
  { id }: SessionRecord,
  loops: readonly LoopRecord[],
): Promise<ReadonlyMap<string, RecordedLoop["compactionBlock"]>> {
  const blocks = new Map<string, RecordedLoop["compactionBlock"]>();
  for (const loop of loops) {
    const last = (await transcript.events(loop.loopId, 0)).findLast(
      ({ body }) => body.type === "CompactionEnded",
    );
    if (last?.body.type !== "CompactionEnded") continue;
    const entries = await transcript.entries(id, loop.branch, 0, last.body.position + 1);
    for (const [loopId, block] of compactionBlocks(entries, last.body.position, timestamp(last.atMs))) {
      blocks.set(loopId, block);
    }
  }
  return blocks;
}
