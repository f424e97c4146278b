import { NO_USAGE } from "../../core/budget/usage.ts";
import type { RecordedLoop, RecordedSession } from "../../schema/recorded-session.ts";

// Records while they are being built.

type Draft<T> = { -readonly [Key in keyof T]: T[Key] };
export type Loop = Draft<RecordedLoop>;
export type Session = Draft<Omit<RecordedSession, "loops">> & { loops: Loop[] };

export function emptyLoop(sessionId: string, loopId: string, agentId: string, startedAt: string): Loop {
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

/** Of a loop's session. A loop's id is `{session}.{segment}.{N}`, and a segment `{provider}.{model}` or one word without dots. */
export function sessionPrefix(loopId: string): string {
  const session = /^(.*?\.sub-[0-9a-f]{8}(?:\.sub-[0-9a-f]{8})*)\./.exec(loopId)?.[1];
  return session ?? loopId.split(".").slice(0, -2).join(".");
}
