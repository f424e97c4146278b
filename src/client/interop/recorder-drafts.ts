import { NO_USAGE } from "../../core/budget/usage.ts";
import type { RecordedLoop, RecordedSession } from "../../schema/recorded-session.ts";

// Records while they are built.

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
export type LoopDraft = Mutable<RecordedLoop>;
export type SessionDraft = Mutable<Omit<RecordedSession, "loops">> & { loops: LoopDraft[] };

export function createEmptyLoop(
  sessionId: string,
  loopId: string,
  agentId: string,
  startedAt: string,
): LoopDraft {
  return {
    loopId,
    sessionId,
    agentId,
    continuationKind: { type: "initial" },
    startedAt,
    status: "running",
    messages: [],
    turns: [],
    usage: { ...NO_USAGE },
    events: [],
    childrenLoopIds: [],
    childLoopRefs: [],
  };
}

/** Returns a loop's session. A loop's id is `{session}.{segment}.{N}`; a segment is `{provider}.{model}` or has no dots. */
export function getSessionId(loopId: string): string {
  const session = /^(.*?\.sub-[0-9a-f]{8}(?:\.sub-[0-9a-f]{8})*)\./.exec(loopId)?.[1];
  return session ?? loopId.split(".").slice(0, -2).join(".");
}
