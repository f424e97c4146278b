import type { EventBody, LoopEvent } from "../../src/schema/loop-event.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import type { Delta, DeltaBody } from "../../src/store/stream/stream-hub.ts";
import type { EvaluationRecord } from "../../src/store/transcript/evaluation.ts";
import type { LoopRecord } from "../../src/store/transcript/loop.ts";
import type { BranchRecord } from "../../src/store/transcript/session.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";

export const NO_USAGE = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

export function answer(turnIndex: number, loopId: string): AgentMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text: `answer ${turnIndex}` }],
    stopReason: "stop",
    model: "m",
    provider: "p",
    usage: NO_USAGE,
    timestamp: 0,
    turnId: { loopId, turnIndex },
  };
}

/** A transcript that the test writes to. */
export class EditableTranscript {
  readonly records: LoopRecord[] = [];
  readonly eventsByLoop = new Map<string, LoopEvent[]>();
  readonly messages: AgentMessage[] = [];
  /** The messages of other branches than `main`. */
  readonly otherBranches = new Map<string, readonly AgentMessage[]>();
  branches: BranchRecord[] = [];
  evaluations: EvaluationRecord[] = [];

  addLoop(loopId: string, facts: Partial<LoopRecord> = {}): void {
    this.records.push({
      loopId,
      session: "s",
      kind: { type: "initial" },
      definitionHash: "h",
      model: "m",
      branch: "main",
      from: 0,
      status: "running",
      startedAtMs: 0,
      ...facts,
    });
    this.eventsByLoop.set(loopId, []);
  }

  addEvent(loopId: string, body: EventBody): void {
    const events = this.eventsByLoop.get(loopId)!;
    events.push({ loopId, sequence: events.length, atMs: 0, body });
  }

  get transcript(): Transcript {
    return {
      readLoops: async () => this.records,
      readEvaluations: async () => this.evaluations,
      readDefinition: async () => undefined,
      readSession: async () => undefined,
      readBranches: async () => this.branches,
      readEvents: async (loopId: string, from: number) => this.eventsByLoop.get(loopId)!.slice(from),
      readEntries: async (_session: string, branch: string, from: number, to: number) =>
        (this.otherBranches.get(branch) ?? this.messages)
          .map((message, position) => ({ position, message, origin: "model" as const, tokens: 0 }))
          .slice(from, to),
    } as unknown as Transcript;
  }
}

export function delta(loopId: string, turn: number, body: DeltaBody): Delta {
  return {
    session: "s",
    run: "r",
    loopId,
    turn,
    command: 1,
    call: 0,
    generation: 1,
    attempt: 1,
    sequence: 0,
    atMs: 0,
    body,
  };
}
