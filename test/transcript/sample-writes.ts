import type { EventBody } from "../../src/schema/loop-event.ts";
import type { AssistantMessage } from "../../src/schema/message.ts";
import type { LoopOpening } from "../../src/store/transcript/loop.ts";
import type { NewMessage } from "../../src/store/transcript/session.ts";
import type { Step } from "../../src/store/transcript/step.ts";
import type {
  NewEntry,
  NewEvent,
  Outbox,
  StoreWrite,
  WriteTarget,
} from "../../src/store/transcript/store-write.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";

// Short builders for tests: the values that activities pass to a transcript.

export const EMPTY_OUTBOX: Outbox = { entries: [], events: [] };

export const USAGE = { input: 1, output: 1, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 2 };

export function step(of: Partial<Step> = {}): Step {
  return {
    session: "s",
    run: "r1",
    number: 1,
    call: 0,
    kind: "model",
    generation: 1,
    process: "p1",
    activityId: "1",
    ...of,
  };
}

export function answer(text: string): AssistantMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    stopReason: "stop",
    model: "m",
    provider: "v",
    usage: USAGE,
    timestamp: 5,
  };
}

export function entry(position: number, text: string): NewEntry {
  return { position, origin: "model", message: answer(text) };
}

export function event(sequence: number, text = `event ${sequence}`): NewEvent {
  const body: EventBody = { type: "ProgressMessage", toolCallId: "c", toolName: "t", text };
  return { sequence, atMs: 1000 + sequence, body };
}

export function message(id: string, text = `text of ${id}`): NewMessage {
  return { id, text, atMs: 7 };
}

export function opening(of: Partial<LoopOpening> = {}): LoopOpening {
  return {
    step: step({ number: 0, kind: "open-loop" }),
    atMs: 100,
    definitionHash: "d",
    agentName: "agent",
    model: "m",
    segment: "v.m",
    kind: { type: "initial" },
    prompts: [message("m1", "hello")],
    ...of,
  };
}

export function write(target: WriteTarget, of: Partial<StoreWrite> = {}): StoreWrite {
  return {
    ...target,
    step: step(),
    atMs: 200,
    outbox: EMPTY_OUTBOX,
    entries: [],
    result: { done: true },
    ...of,
  };
}

/** Returns what a reader sees of a branch, as texts. */
export async function readTexts(transcript: Transcript, session: string, branch: string): Promise<string[]> {
  const entries = await transcript.readEntries(session, branch, 0, Number.MAX_SAFE_INTEGER);
  return entries.map(({ message: spoken }) => {
    const first = "content" in spoken ? spoken.content[0] : undefined;
    return first?.type === "text" ? first.text : JSON.stringify(spoken);
  });
}

/** Returns what a reader sees of a loop's events, as texts. */
export async function readEventTexts(transcript: Transcript, loopId: string, from = 0): Promise<string[]> {
  const events = await transcript.readEvents(loopId, from);
  return events.map(({ body }) => (body.type === "ProgressMessage" ? body.text : body.type));
}
