import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { NO_USAGE } from "../../core/budget/usage.ts";
import { estimateMessage } from "../../core/view/estimate.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentDefinitionInput } from "../../schema/definition.ts";
import type { BodyLine, EntryLine, EventLine, LoopLine } from "../../schema/export-line.ts";
import type { EventBody } from "../../schema/loop-event.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { LoopStatus, SessionOrigin } from "../../schema/record.ts";
import type { RecordedLoop, RecordedSession } from "../../schema/recorded-session.ts";
import { ORIGINS } from "../../store/transcript/entry-origin.ts";
import { writeExportText } from "../../store/transcript/export/write-export.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { validateDefinition } from "../runs/pin-definition.ts";
import { type ImportResult, importSessions } from "./export-session.ts";

/** How a saved session is restored. */
export type RestoreSessionOptions = {
  /** The agent that continues the session: a saved session does not contain its definition. */
  readonly agent: AgentDefinitionInput;
  /** The id of the restored session; the saved one's by default. */
  readonly as?: string;
  /** Generates a new id instead; not together with `as`. */
  readonly newIds?: boolean;
};

/** Imports a session from the sources' format. The parents of its loops determine the branches; its turns become events. */
export async function restoreSession(
  link: ClientLink,
  saved: RecordedSession,
  { agent, ...options }: RestoreSessionOptions,
): Promise<ImportResult> {
  const definition = validateDefinition(agent);
  const definitionHash = await (await link.storage.openTranscript()).saveDefinition(definition);
  const lines = buildExportLines(saved, {
    definitionHash,
    agentName: definition.name,
    model: definition.model.id,
  });
  if (saved.loops.length === 0) {
    throw new HoldfastError(
      "input-invalid",
      `Session ${saved.sessionId} has no loop: there is nothing to restore.`,
    );
  }
  const archive = {
    readLines: async function* () {
      yield* lines;
    },
  };
  return await importSessions(
    link,
    async function* () {
      for await (const text of writeExportText(archive, [saved.sessionId], new Date(saved.lastActiveAt))) {
        yield Buffer.from(text, "utf8");
      }
    },
    options,
  );
}

type PinnedAgent = { readonly definitionHash: string; readonly agentName: string; readonly model: string };
type PositionedLoop = {
  readonly loop: RecordedLoop;
  readonly branch: string;
  readonly from: number;
  readonly to: number;
};
type RestoredBranch = {
  readonly id: string;
  readonly parent?: { branch: string; position: number };
  length: number;
};

const RUN = "restored";

function buildExportLines(saved: RecordedSession, pinned: PinnedAgent): readonly BodyLine[] {
  const { placed, branches } = placeOnBranches(saved.loops);
  const last = placed.at(-1);
  const { parentSpawnRef } = saved;
  return [
    {
      type: "session",
      id: saved.sessionId,
      ...pinned,
      createdAtMs: Date.parse(saved.createdAt),
      lastActiveAtMs: Date.parse(saved.lastActiveAt),
      headBranch: last?.branch ?? "main",
      ...omitUndefined({ lastLoopId: last?.loop.loopId }),
      status: last === undefined ? "completed" : toLoopStatus(last.loop),
      ...(saved.scope === "persistent" ? { scope: "persistent" as const } : {}),
      // A file without an agent id holds the agent's name there.
      ...(z.uuid().safeParse(saved.agentId).success ? { agentId: saved.agentId } : {}),
      ...toSessionOrigin(saved),
      ...(parentSpawnRef === undefined
        ? {}
        : {
            spawn: {
              session: parentSpawnRef.parentSessionId,
              loopId: parentSpawnRef.parentLoopId,
              turn: 0,
              toolCallId: parentSpawnRef.toolCallId,
              toolName: parentSpawnRef.toolName,
            },
          }),
    },
    ...placed.map((one, index) => buildLoopLine(saved, one, index, pinned)),
    ...branches.map((branch) => ({ type: "branch" as const, session: saved.sessionId, ...branch })),
    ...branches.flatMap(({ id }) =>
      placed.filter(({ branch }) => branch === id).flatMap((one) => buildEntryLines(saved.sessionId, one)),
    ),
    ...placed.flatMap(buildEventLines),
  ];
}

function toSessionOrigin({ formation: origin }: RecordedSession): { readonly origin?: SessionOrigin } {
  switch (origin.type) {
    case "first_loop":
      return {};
    case "explicit":
      return { origin: { type: "explicit" } };
    case "inactivity_timeout": {
      const { thresholdSecs, previousSessionId: previousSession } = origin;
      return { origin: { type: "inactivity_timeout", thresholdSecs, previousSession } };
    }
  }
}

/** Places loops on branches. The first loop after another one continues its branch; each further one begins a new branch. */
function placeOnBranches(loops: readonly RecordedLoop[]): {
  readonly placed: readonly PositionedLoop[];
  readonly branches: readonly RestoredBranch[];
} {
  const branches: RestoredBranch[] = [{ id: "main", length: 0 }];
  const placed = new Map<string, PositionedLoop>();
  for (const loop of loops) {
    const parent = loop.parentLoopId === undefined ? undefined : placed.get(loop.parentLoopId);
    const on = parent === undefined ? "main" : parent.branch;
    const from = parent?.to ?? 0;
    let branch = branches.find(({ id }) => id === on)!;
    if (branch.length !== from) {
      branch = { id: `restored-${branches.length}`, parent: { branch: on, position: from }, length: from };
      branches.push(branch);
    }
    branch.length = from + loop.messages.length;
    placed.set(loop.loopId, { loop, branch: branch.id, from, to: branch.length });
  }
  return { placed: [...placed.values()], branches };
}

function toLoopStatus({ status }: RecordedLoop): LoopStatus {
  return status === "pending" || status === "running" ? "aborted" : status;
}

/** Takes the number from the id, so that the next loop of the same segment gets a number of its own. */
function parseLoopNumber(
  session: string,
  loopId: string,
  index: number,
): Pick<LoopLine, "segment" | "number"> {
  const own = loopId.startsWith(`${session}.`) ? loopId.slice(session.length + 1) : "";
  const [, segment, number] = /^(.+)\.(\d{1,9})$/.exec(own) ?? [];
  return segment === undefined
    ? { segment: "restored", number: index + 1 }
    : { segment, number: Number(number) };
}

function buildLoopLine(
  { sessionId }: RecordedSession,
  { loop, branch, from }: PositionedLoop,
  index: number,
  { definitionHash, model }: PinnedAgent,
): LoopLine {
  return {
    type: "loop",
    session: sessionId,
    loopId: loop.loopId,
    ...parseLoopNumber(sessionId, loop.loopId, index),
    ...omitUndefined({ parentLoopId: loop.parentLoopId }),
    kind: loop.continuationKind,
    definitionHash,
    model: loop.config?.model ?? model,
    branch,
    from,
    status: toLoopStatus(loop),
    startedAtMs: Date.parse(loop.startedAt),
    ...(loop.endedAt === undefined ? {} : { endedAtMs: Date.parse(loop.endedAt) }),
    ...omitUndefined({ outcome: loop.outcome }),
    usage: loop.usage,
    costUsd: loop.costUsd ?? null,
    turns: loop.turns.length,
    events: buildEventBodies({ loop, branch, from, to: from + loop.messages.length }).length,
  };
}

function buildEntryLines(session: string, { loop, branch, from }: PositionedLoop): readonly EntryLine[] {
  return loop.messages.map((message, index) => ({
    type: "entry",
    session,
    branch,
    position: from + index,
    run: RUN,
    origin: ORIGINS[message.role],
    tokens: estimateMessage(message),
    message,
  }));
}

function buildEventLines(placed: PositionedLoop): readonly EventLine[] {
  const { loop } = placed;
  return buildEventBodies(placed).map(({ at, body }, sequence) => ({
    type: "event",
    loopId: loop.loopId,
    run: RUN,
    sequence,
    atMs: Date.parse(at),
    body,
  }));
}

type TimedBody = { readonly at: string; readonly body: EventBody };

function buildEventBodies({ loop, from, to }: PositionedLoop): readonly TimedBody[] {
  const { startedAt, endedAt = startedAt, continuationKind: kind, parentLoopId, rejection } = loop;
  const parent = omitUndefined({ parentLoopId });
  const getPosition = (message: AgentMessage) =>
    loop.messages.findIndex((one) => isDeepStrictEqual(one, message)) + from;
  const turns = loop.turns
    .filter(({ outputMessage }) => getPosition(outputMessage) >= from)
    .flatMap((turn): readonly TimedBody[] => {
      const wasSent = (message: AgentMessage): readonly TimedBody[] =>
        getPosition(message) < from
          ? []
          : [{ at: turn.startedAt, body: { type: "MessageEnd", position: getPosition(message) } }];
      const { turnIndex } = turn.turnId;
      const results = turn.toolResults.filter((result) => getPosition(result) >= from);
      return [
        { at: turn.startedAt, body: { type: "TurnStart", turn: turnIndex, trigger: turn.triggeredBy } },
        ...turn.inputMessages.flatMap(wasSent),
        ...wasSent(turn.outputMessage),
        ...results.map(
          (result): TimedBody => ({
            at: turn.endedAt,
            body: {
              type: "ToolExecutionEnd",
              toolCallId: result.toolCallId,
              toolName: result.toolName,
              position: getPosition(result),
              isError: result.isError,
              ...omitUndefined({ childLoopId: result.childLoopId }),
            },
          }),
        ),
        {
          at: turn.endedAt,
          body: {
            type: "TurnEnd",
            turn: turnIndex,
            position: getPosition(turn.outputMessage),
            usage: turn.usage,
            results: results.length,
          },
        },
      ];
    });
  const startEvent: TimedBody = { at: startedAt, body: { type: "AgentStart", kind, ...parent } };
  if (toLoopStatus(loop) === "aborted") return [startEvent, ...turns];
  const outcome = loop.outcome ?? { type: "answered" as const, stopReason: "stop" as const };
  const reason = omitUndefined({ rejection });
  return [
    startEvent,
    ...turns,
    { at: endedAt, body: { type: "AgentEnd", from, to, usage: loop.usage ?? NO_USAGE, outcome, ...reason } },
  ];
}
