import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { NO_USAGE } from "../../core/budget/usage.ts";
import { estimateMessage } from "../../core/view/estimate.ts";
import type { AgentDefinitionInput } from "../../schema/definition.ts";
import type { BodyLine, EntryLine, EventLine, LoopLine } from "../../schema/export-line.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { EntryOrigin, EventBody, Formation, LoopStatus } from "../../schema/record.ts";
import type { RecordedLoop, RecordedSession } from "../../schema/recorded-session.ts";
import { exportText } from "../../store/transcript/export/write-export.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { validDefinition } from "../runs/pinned-definition.ts";
import { type Imported, importSessions } from "./export.ts";

export type RestoreOptions = {
  /** The agent that goes on: a saved session does not say how it was asked. */
  readonly agent: AgentDefinitionInput;
  readonly as?: string;
  readonly renew?: boolean;
};

/** Brings in a session as the sources save it: its loops are branches as their parents say, its turns are told again. */
export async function restoreSession(
  link: Link,
  saved: RecordedSession,
  { agent, ...options }: RestoreOptions,
): Promise<Imported> {
  const definition = validDefinition(agent);
  const definitionHash = await (await link.storage.transcript()).saveDefinition(definition);
  const lines = linesOf(saved, { definitionHash, agentName: definition.name, model: definition.model.id });
  if (saved.loops.length === 0) {
    throw new HoldfastError(
      "input-invalid",
      `Session ${saved.sessionId} has no loop: there is nothing to restore.`,
    );
  }
  const archive = {
    lines: async function* () {
      yield* lines;
    },
  };
  return await importSessions(
    link,
    async function* () {
      for await (const text of exportText(archive, [saved.sessionId], new Date(saved.lastActiveAt))) {
        yield Buffer.from(text, "utf8");
      }
    },
    options,
  );
}

type Pinned = { readonly definitionHash: string; readonly agentName: string; readonly model: string };
type Placed = {
  readonly loop: RecordedLoop;
  readonly branch: string;
  readonly from: number;
  readonly to: number;
};
type Branch = { readonly id: string; readonly parent?: { branch: string; position: number }; length: number };

const RUN = "restored";

function linesOf(saved: RecordedSession, pinned: Pinned): readonly BodyLine[] {
  const { placed, branches } = layOut(saved.loops);
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
      ...(last === undefined ? {} : { lastLoopId: last.loop.loopId }),
      status: last === undefined ? "completed" : statusOf(last.loop),
      ...(saved.scope === "persistent" ? { scope: "persistent" as const } : {}),
      // A file that says no id says the agent's name there.
      ...(z.uuid().safeParse(saved.agentId).success ? { agentId: saved.agentId } : {}),
      ...formationOf(saved),
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
    ...placed.map((one, index) => loopLine(saved, one, index, pinned)),
    ...branches.map((branch) => ({ type: "branch" as const, session: saved.sessionId, ...branch })),
    ...branches.flatMap(({ id }) =>
      placed.filter(({ branch }) => branch === id).flatMap((one) => entryLines(saved.sessionId, one)),
    ),
    ...placed.flatMap(eventLines),
  ];
}

function formationOf({ formation }: RecordedSession): { readonly formation?: Formation } {
  switch (formation.type) {
    case "first_loop":
      return {};
    case "explicit":
      return { formation: { type: "explicit" } };
    case "inactivity_timeout": {
      const { thresholdSecs, previousSessionId: previousSession } = formation;
      return { formation: { type: "inactivity_timeout", thresholdSecs, previousSession } };
    }
  }
}

/** The first loop behind another one goes on on its branch; each further one begins a branch there. */
function layOut(loops: readonly RecordedLoop[]): {
  readonly placed: readonly Placed[];
  readonly branches: readonly Branch[];
} {
  const branches: Branch[] = [{ id: "main", length: 0 }];
  const placed = new Map<string, Placed>();
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

function statusOf({ status }: RecordedLoop): LoopStatus {
  return status === "pending" || status === "running" ? "aborted" : status;
}

/** As its id says, so that the next loop of the same segment gets a number of its own. */
function numbered(session: string, loopId: string, index: number): Pick<LoopLine, "segment" | "number"> {
  const own = loopId.startsWith(`${session}.`) ? loopId.slice(session.length + 1) : "";
  const [, segment, number] = /^(.+)\.(\d{1,9})$/.exec(own) ?? [];
  return segment === undefined
    ? { segment: "restored", number: index + 1 }
    : { segment, number: Number(number) };
}

function loopLine(
  { sessionId }: RecordedSession,
  { loop, branch, from }: Placed,
  index: number,
  { definitionHash, model }: Pinned,
): LoopLine {
  return {
    type: "loop",
    session: sessionId,
    loopId: loop.loopId,
    ...numbered(sessionId, loop.loopId, index),
    ...(loop.parentLoopId === undefined ? {} : { parentLoopId: loop.parentLoopId }),
    kind: loop.continuationKind,
    definitionHash,
    model: loop.config?.model ?? model,
    branch,
    from,
    status: statusOf(loop),
    startedAtMs: Date.parse(loop.startedAt),
    ...(loop.endedAt === undefined ? {} : { endedAtMs: Date.parse(loop.endedAt) }),
    ...(loop.outcome === undefined ? {} : { outcome: loop.outcome }),
    usage: loop.usage,
    costUsd: loop.costUsd ?? null,
    turns: loop.turns.length,
    events: bodiesOf({ loop, branch, from, to: from + loop.messages.length }).length,
  };
}

const ORIGINS = {
  user: "prompt",
  assistant: "model",
  toolResult: "tool",
  extension: "machine",
} as const satisfies Record<AgentMessage["role"], EntryOrigin>;

function entryLines(session: string, { loop, branch, from }: Placed): readonly EntryLine[] {
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

function eventLines(placed: Placed): readonly EventLine[] {
  const { loop } = placed;
  return bodiesOf(placed).map(({ at, body }, sequence) => ({
    type: "event",
    loopId: loop.loopId,
    run: RUN,
    sequence,
    atMs: Date.parse(at),
    body,
  }));
}

type Told = { readonly at: string; readonly body: EventBody };

function bodiesOf({ loop, from, to }: Placed): readonly Told[] {
  const { startedAt, endedAt = startedAt, continuationKind: kind, parentLoopId, rejection } = loop;
  const parent = parentLoopId === undefined ? {} : { parentLoopId };
  const placeOf = (message: AgentMessage) =>
    loop.messages.findIndex((one) => isDeepStrictEqual(one, message)) + from;
  const turns = loop.turns
    .filter(({ outputMessage }) => placeOf(outputMessage) >= from)
    .flatMap((turn): readonly Told[] => {
      const said = (message: AgentMessage): readonly Told[] =>
        placeOf(message) < from
          ? []
          : [{ at: turn.startedAt, body: { type: "MessageEnd", position: placeOf(message) } }];
      const { turnIndex } = turn.turnId;
      const results = turn.toolResults.filter((result) => placeOf(result) >= from);
      return [
        { at: turn.startedAt, body: { type: "TurnStart", turn: turnIndex, trigger: turn.triggeredBy } },
        ...turn.inputMessages.flatMap(said),
        ...said(turn.outputMessage),
        ...results.map(
          (result): Told => ({
            at: turn.endedAt,
            body: {
              type: "ToolExecutionEnd",
              toolCallId: result.toolCallId,
              toolName: result.toolName,
              position: placeOf(result),
              isError: result.isError,
              ...(result.childLoopId === undefined ? {} : { childLoopId: result.childLoopId }),
            },
          }),
        ),
        {
          at: turn.endedAt,
          body: {
            type: "TurnEnd",
            turn: turnIndex,
            position: placeOf(turn.outputMessage),
            usage: turn.usage,
            results: results.length,
          },
        },
      ];
    });
  const begun: Told = { at: startedAt, body: { type: "AgentStart", kind, ...parent } };
  if (statusOf(loop) === "aborted") return [begun, ...turns];
  const outcome = loop.outcome ?? { type: "answered" as const, stopReason: "stop" as const };
  const why = rejection === undefined ? {} : { rejection };
  return [
    begun,
    ...turns,
    { at: endedAt, body: { type: "AgentEnd", from, to, usage: loop.usage ?? NO_USAGE, outcome, ...why } },
  ];
}
