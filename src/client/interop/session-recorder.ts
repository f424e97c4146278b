import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentEvent } from "../../schema/agent-event.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type {
  ParallelGroupRecord,
  RecordedLoop,
  RecordedSession,
  RecordedTurn,
} from "../../schema/recorded-session.ts";
import { createEmptyLoop, getSessionId, type LoopDraft, type SessionDraft } from "./recorder-drafts.ts";

// Builds whole sessions from events as they arrive (SES-14, SES-15).

/** What a recorder stores, and when a session ends. */
export type RecorderConfig = {
  /** Also stores the chunks of streamed answers. Off by default: they are a thousand times more than the rest. */
  readonly includeStreamingEvents?: boolean;
  /** The scope that recorded sessions state; see `RecordedSession`. */
  readonly scope?: RecordedSession["scope"];
  /** A session that follows another one of the same agent after this pause gets the origin `inactivity_timeout` (SES-13). */
  readonly inactivityTimeoutSecs?: number;
  /** Called at the first event of a session; `false` skips the session. */
  readonly beforeTask?: (session: RecordedSession) => boolean;
  /** Called when a session is flushed. */
  readonly afterTask?: (session: RecordedSession) => void;
};

type OpenTurn = Pick<RecordedTurn, "triggeredBy" | "startedAt"> & { readonly index: number };

/** The part of a loop's events that its record does not contain yet. */
type LoopProgress = { sequence: number; turn: OpenTurn | undefined; inputMessages: AgentMessage[] };

/** Builds saved sessions from events. Pass it every event of a session, in order. */
export class SessionRecorder {
  readonly #config: RecorderConfig;
  readonly #open = new Map<string, SessionDraft>();
  readonly #completed = new Map<string, SessionDraft>();
  readonly #rejected = new Set<string>();
  readonly #progress = new Map<string, LoopProgress>();
  readonly #sessionOf = new Map<string, string>();
  #current: string | undefined;

  /** Creates a recorder without sessions. */
  constructor(config: RecorderConfig = {}) {
    this.#config = config;
  }

  /** Adds an event. Events of loops that the recorder has not seen begin are ignored. */
  onEvent(event: AgentEvent): void {
    if (event.type === "ParallelLoopStart" || event.type === "ParallelLoopEnd") {
      if (event.type === "ParallelLoopStart") this.#addPlannedLoops(event);
      else this.#closeGroup(event);
      return;
    }
    if (event.type === "AgentStart") this.#startLoop(event);
    const loop = this.#findLoop(event.loopId);
    if (loop === undefined) return;
    const progress = this.#getProgress(event.loopId);
    const sequence = progress.sequence++;
    if (event.type !== "MessageUpdate" || this.#config.includeStreamingEvents === true) {
      loop.events.push({ sequence, event });
    }
    this.#applyEvent(loop, progress, event);
  }

  /** Marks loops that have not ended as aborted, and all sessions as complete. */
  abortOpenLoops(): void {
    for (const [id, session] of this.#open) {
      for (const loop of session.loops) {
        if (loop.status === "running" || loop.status === "pending") loop.status = "aborted";
      }
      this.#open.delete(id);
      this.#completed.set(id, session);
      this.#config.afterTask?.(session);
    }
  }

  /** Returns the complete sessions and removes them from the recorder. */
  drainCompleted(): readonly RecordedSession[] {
    const sessions = [...this.#completed.values()];
    this.#completed.clear();
    return sessions;
  }

  /** The sessions that were not drained: complete ones first, then open ones. */
  get sessions(): readonly RecordedSession[] {
    return [...this.#completed.values(), ...this.#open.values()];
  }

  /** Returns an open or complete session; `undefined` if the recorder does not have it. */
  getSession(id: string): RecordedSession | undefined {
    return this.#open.get(id) ?? this.#completed.get(id);
  }

  /** Returns the loop that began last, of this session or of all sessions. */
  currentLoop(session?: string): RecordedLoop | undefined {
    if (session === undefined) return this.#current === undefined ? undefined : this.#findLoop(this.#current);
    return this.getSession(session)?.loops.findLast(({ status }) => status !== "pending");
  }

  #startLoop(event: Extract<AgentEvent, { type: "AgentStart" }>): void {
    const { sessionId, loopId, timestamp, parentLoopId, agentId } = event;
    const session = this.#findSession(event);
    if (session === undefined) return;
    session.lastActiveAt = timestamp;
    const known = session.loops.find((loop) => loop.loopId === loopId);
    const started: LoopDraft = {
      ...(known ?? createEmptyLoop(sessionId, loopId, agentId, timestamp)),
      agentId,
      ...omitUndefined({ parentLoopId }),
      continuationKind: event.continuationKind,
      startedAt: timestamp,
      status: "running",
      ...omitUndefined({ config: event.configSnapshot, metadata: event.metadata }),
    };
    session.loops = [...session.loops.filter((loop) => loop.loopId !== loopId), started];
    session.loops.sort((one, other) =>
      one.startedAt < other.startedAt ? -1 : one.startedAt > other.startedAt ? 1 : 0,
    );
    this.#sessionOf.set(loopId, sessionId);
    this.#current = loopId;
  }

  #findSession(event: Extract<AgentEvent, { type: "AgentStart" }>): SessionDraft | undefined {
    const { sessionId } = event;
    if (this.#rejected.has(sessionId)) return undefined;
    const open = this.#open.get(sessionId);
    if (open !== undefined) return open;
    const again = this.#completed.get(sessionId);
    if (again !== undefined) {
      this.#completed.delete(sessionId);
      this.#open.set(sessionId, again);
      return again;
    }
    const session = this.#createSession(event);
    if (this.#config.beforeTask?.(session) === false) {
      this.#rejected.add(sessionId);
      return undefined;
    }
    this.#open.set(sessionId, session);
    return session;
  }

  #createSession(event: Extract<AgentEvent, { type: "AgentStart" }>): SessionDraft {
    const { sessionId, agentId, timestamp, parentLoopId } = event;
    const parent = parentLoopId === undefined ? undefined : this.#sessionOf.get(parentLoopId);
    const spawned = parentLoopId !== undefined && !parentLoopId.startsWith(`${sessionId}.`);
    return {
      sessionId,
      agentId,
      formation: this.#getOrigin(sessionId, agentId, timestamp),
      scope: this.#config.scope ?? "ephemeral",
      createdAt: timestamp,
      lastActiveAt: timestamp,
      ...(spawned
        ? { parentSpawnRef: { parentSessionId: parent ?? "", parentLoopId, toolCallId: "", toolName: "" } }
        : {}),
      loops: [],
    };
  }

  #getOrigin(sessionId: string, agentId: string, timestamp: string): RecordedSession["formation"] {
    const thresholdSecs = this.#config.inactivityTimeoutSecs;
    const previous = this.sessions
      .filter((session) => session.agentId === agentId && session.sessionId !== sessionId)
      .sort((one, other) => (one.lastActiveAt < other.lastActiveAt ? 1 : -1))[0];
    if (thresholdSecs === undefined || previous === undefined) return { type: "first_loop", timestamp };
    const idleMs = Date.parse(timestamp) - Date.parse(previous.lastActiveAt);
    if (idleMs < thresholdSecs * 1000) return { type: "first_loop", timestamp };
    return { type: "inactivity_timeout", thresholdSecs, previousSessionId: previous.sessionId, timestamp };
  }

  #applyEvent(loop: LoopDraft, progress: LoopProgress, event: AgentEvent): void {
    switch (event.type) {
      case "AgentEnd":
        this.#endLoop(loop, event);
        return;
      case "TurnStart":
        progress.turn = {
          index: event.turnIndex,
          triggeredBy: event.triggeredBy,
          startedAt: event.timestamp,
        };
        return;
      case "MessageEnd":
        if (event.message.role === "user") progress.inputMessages.push(event.message);
        return;
      case "TurnEnd":
        this.#endTurn(loop, progress, event);
        return;
      case "ToolExecutionEnd":
        if (event.childLoopId !== undefined) this.#linkChild(loop, event, event.childLoopId);
        return;
      default:
        return;
    }
  }

  #endLoop(loop: LoopDraft, event: Extract<AgentEvent, { type: "AgentEnd" }>): void {
    loop.status = event.rejection === undefined ? "completed" : "rejected";
    loop.endedAt = event.timestamp;
    loop.messages = [...event.messages];
    loop.usage = event.usage;
    if (event.rejection !== undefined) loop.rejection = event.rejection;
    if (event.outcome !== undefined) loop.outcome = event.outcome;
    const parent = loop.parentLoopId === undefined ? undefined : this.#findLoop(loop.parentLoopId);
    if (parent === undefined || parent.sessionId !== loop.sessionId) return;
    if (!parent.childrenLoopIds.includes(loop.loopId)) parent.childrenLoopIds.push(loop.loopId);
  }

  #endTurn(loop: LoopDraft, progress: LoopProgress, event: Extract<AgentEvent, { type: "TurnEnd" }>): void {
    const { message, timestamp, turnIndex, usage, toolResults } = event;
    loop.config ??= { model: message.model, provider: message.provider };
    const begun = progress.turn;
    if (begun === undefined || begun.index !== turnIndex) return;
    loop.turns.push({
      turnId: { loopId: loop.loopId, turnIndex },
      triggeredBy: begun.triggeredBy,
      usage,
      inputMessages: progress.inputMessages,
      outputMessage: message,
      toolResults: [...toolResults],
      startedAt: begun.startedAt,
      endedAt: timestamp,
    });
    progress.turn = undefined;
    progress.inputMessages = [];
  }

  /** Links a child to its call, even if the child's session is complete already (SES-11). */
  #linkChild(
    loop: LoopDraft,
    { toolCallId, toolName }: Extract<AgentEvent, { type: "ToolExecutionEnd" }>,
    childLoopId: string,
  ): void {
    const childSessionId = this.#sessionOf.get(childLoopId) ?? getSessionId(childLoopId);
    loop.childLoopRefs.push({ toolCallId, toolName, childLoopId, childSessionId });
    const child = this.#open.get(childSessionId) ?? this.#completed.get(childSessionId);
    if (child === undefined) return;
    child.parentSpawnRef = {
      parentSessionId: loop.sessionId,
      parentLoopId: loop.loopId,
      toolCallId,
      toolName,
    };
  }

  /** Adds the planned branches before they begin. */
  #addPlannedLoops({
    sessionId,
    loopIds,
    timestamp,
  }: Extract<AgentEvent, { type: "ParallelLoopStart" }>): void {
    const session = this.#open.get(sessionId) ?? this.#completed.get(sessionId);
    for (const loopId of loopIds) {
      if (session === undefined || session.loops.some((loop) => loop.loopId === loopId)) continue;
      session.loops.push({
        ...createEmptyLoop(sessionId, loopId, session.agentId, timestamp),
        status: "pending",
      });
      this.#sessionOf.set(loopId, sessionId);
      this.#pending.set(loopId, loopIds);
    }
    for (const loopId of loopIds) this.#pending.set(loopId, loopIds);
  }

  readonly #pending = new Map<string, readonly string[]>();

  #closeGroup({ sessionId, ...chosen }: Extract<AgentEvent, { type: "ParallelLoopEnd" }>): void {
    const allLoopIds = [...(this.#pending.get(chosen.selectedLoopId) ?? [chosen.selectedLoopId])];
    const session = this.#open.get(sessionId) ?? this.#completed.get(sessionId);
    for (const loop of session?.loops ?? []) {
      if (!allLoopIds.includes(loop.loopId)) continue;
      const group: ParallelGroupRecord = {
        allLoopIds,
        selectedLoopId: chosen.selectedLoopId,
        selectedConfigIndex: chosen.selectedConfigIndex,
        evaluationUsage: chosen.evaluationUsage,
        isSelected: loop.loopId === chosen.selectedLoopId,
      };
      loop.parallelGroup = group;
    }
  }

  #findLoop(loopId: string): LoopDraft | undefined {
    const id = this.#sessionOf.get(loopId);
    const session = id === undefined ? undefined : (this.#open.get(id) ?? this.#completed.get(id));
    return session?.loops.find((loop) => loop.loopId === loopId);
  }

  #getProgress(loopId: string): LoopProgress {
    const known = this.#progress.get(loopId) ?? { sequence: 0, turn: undefined, inputMessages: [] };
    this.#progress.set(loopId, known);
    return known;
  }
}
