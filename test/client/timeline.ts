import type { ClientLink } from "../../src/client/connection/client-link.ts";
import { type SessionEvent, streamSessionEvents } from "../../src/client/read/session-events.ts";
import type { EventBody } from "../../src/schema/loop-event.ts";
import type { LocalHub } from "../../src/store/stream/local-hub.ts";
import type { Delta, DeltaBody } from "../../src/store/stream/stream-hub.ts";
import { eventually } from "../support/eventually.ts";
import { answer, delta, EditableTranscript, NO_USAGE } from "./editable-transcript.ts";

/** A turn of a timeline: chunks of each attempt at its answer, and the output of its calls. */
export type TurnPlan = { readonly attempts: readonly number[]; readonly calls: readonly number[] };

/** Reads a session's events in the background. */
export class BackgroundReader {
  readonly events: SessionEvent[] = [];
  readonly #leaveController = new AbortController();
  readonly done: Promise<void>;

  /** How often it has polled for loops. */
  #polls = 0;

  constructor(link: ClientLink, from: string) {
    const storage = { ...link.storage, openExistingTranscript: () => this.#countPolls(link) };
    const own = { ...link, storage } as unknown as ClientLink;
    this.done = (async () => {
      for await (const event of streamSessionEvents(own, "s", { from, signal: this.#leaveController.signal }))
        this.events.push(event);
    })();
  }

  /** Resolves when it has read everything that existed when it started, and waits for more. */
  async waitUntilReady(): Promise<void> {
    await eventually(() => this.#polls > 1, { what: "a reader's second look", everyMs: 1 });
    await new Promise((resolve) => setImmediate(resolve));
  }

  async #countPolls(link: ClientLink) {
    const transcript = await link.storage.openExistingTranscript();
    if (transcript === undefined) return undefined;
    const readLoops = async (session: string) => {
      this.#polls += 1;
      return transcript.readLoops(session);
    };
    return { ...transcript, readLoops };
  }

  stop(): Promise<void> {
    this.#leaveController.abort();
    return this.done;
  }
}

/** A run that a test plays: recorded entries are written to a book, live output goes through a real hub. */
export class Timeline {
  readonly book = new EditableTranscript();
  readonly hub: LocalHub;
  readonly link: ClientLink;
  readonly whole: BackgroundReader;
  #end: () => void = () => undefined;
  #expected = 0;
  #command = 0;
  /** Labels of recorded answers and calls, as events distinguish them. */
  readonly recorded = new Set<string>();

  constructor(hub: LocalHub) {
    this.hub = hub;
    const ended = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    const handle = {
      describe: async () => ({ status: { name: "RUNNING" }, startTime: new Date(0) }),
      result: () => ended,
    };
    this.link = {
      storage: { openExistingTranscript: async () => this.book.transcript, openHub: () => hub },
      client: { workflow: { getHandle: () => handle } },
      connection: {
        withAbortSignal: (signal: AbortSignal, ask: () => Promise<void>) => raceAbort(signal, ask()),
      },
    } as unknown as ClientLink;
    this.whole = new BackgroundReader(this.link, "session");
  }

  /** @param pause - Called between any two steps of the timeline. */
  async play(turns: readonly TurnPlan[], pause: () => Promise<void>): Promise<void> {
    this.book.addLoop("l");
    await this.#recordEvents(pause, { type: "AgentStart", kind: { type: "initial" } });
    for (const [turn, plan] of turns.entries()) await this.#playTurn(turn, plan, pause);
    const end = {
      from: 0,
      to: 0,
      usage: NO_USAGE,
      outcome: { type: "answered", stopReason: "stop" },
    } as const;
    await this.#recordEvents(pause, { type: "AgentEnd", ...end });
    this.#end();
  }

  async #playTurn(turn: number, { attempts, calls }: TurnPlan, pause: () => Promise<void>): Promise<void> {
    await this.#recordEvents(pause, { type: "TurnStart", turn, trigger: "user" });
    const isShown = attempts.some((pieces) => pieces > 0);
    this.#command += 1;
    for (const [index, pieces] of attempts.entries()) {
      const of = { turn, command: this.#command, attempt: index + 1 };
      await this.#publishDelta(pause, { type: "attempt" }, of, 0);
      for (let piece = 0; piece < pieces; piece++) {
        const isFirst = piece === 0 && attempts.slice(0, index).every((before) => before === 0);
        await this.#publishDelta(
          pause,
          { type: "text", text: `${turn}.${index}.${piece} ` },
          of,
          isFirst ? 2 : 1,
        );
      }
    }
    const message = answer(turn, "l");
    const ids = calls.map((_, call) => `call-${turn}-${call}`);
    const parts = ids.map((id) => ({ type: "toolCall" as const, id, name: "t", arguments: {} }));
    const position = this.book.messages.push({ ...message, content: parts } as typeof message) - 1;
    // A reader that has seen the answer live has received its start.
    if (isShown) this.#expected -= 1;
    await this.#recordEvents(pause, { type: "MessageStart", position }, { type: "MessageEnd", position });
    this.recorded.add(`answer ${turn}`);
    for (const [call, pieces] of calls.entries())
      await this.#playCall(turn, position, ids[call] ?? "", pieces, pause);
    const ending = { turn, position, usage: NO_USAGE, results: calls.length };
    await this.#recordEvents(pause, { type: "TurnEnd", ...ending });
  }

  async #playCall(
    turn: number,
    asked: number,
    id: string,
    pieces: number,
    pause: () => Promise<void>,
  ): Promise<void> {
    const call = { toolCallId: id, toolName: "t" };
    await this.#recordEvents(pause, { type: "ToolExecutionStart", ...call, position: asked });
    this.#command += 1;
    for (let piece = 0; piece < pieces; piece++) {
      await this.#publishDelta(
        pause,
        { type: "tool-output", ...call, text: `${id}.${piece} ` },
        { turn, command: this.#command },
        1,
      );
    }
    const position =
      this.book.messages.push({ role: "toolResult", ...call, content: [], isError: false, timestamp: 0 }) - 1;
    await this.#recordEvents(
      pause,
      { type: "ToolExecutionEnd", ...call, position, isError: false },
      { type: "MessageStart", position },
      { type: "MessageEnd", position },
    );
    this.recorded.add(id);
  }

  async #publishDelta(
    pause: () => Promise<void>,
    body: DeltaBody,
    of: Partial<Delta>,
    events: number,
  ): Promise<void> {
    await pause();
    this.hub.publish({ ...delta("l", 0, body), ...of });
    await this.#waitForEvents(events);
  }

  /** Events that are recorded together, as one activity records them. */
  async #recordEvents(pause: () => Promise<void>, ...bodies: EventBody[]): Promise<void> {
    await pause();
    for (const body of bodies) this.book.addEvent("l", body);
    const calls = bodies.flatMap((body) => (body.type === "ToolExecutionEnd" ? [body.toolCallId] : []));
    const isEnd = bodies.some(({ type }) => type === "TurnEnd" || type === "AgentEnd");
    this.hub.publish(delta("l", 0, { type: "recorded", sequence: 0, completed: isEnd ? "all" : calls }));
    await this.#waitForEvents(bodies.length);
  }

  async #waitForEvents(events: number): Promise<void> {
    this.#expected += events;
    await this.hub.flush();
    await eventually(() => this.whole.events.length >= this.#expected, {
      what: `event ${this.#expected} at the reader`,
      everyMs: 2,
    });
  }
}

function raceAbort<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("left")), { once: true });
    promise.then(resolve, reject);
  });
}
