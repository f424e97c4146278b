import type { BodyLine, EntryLine } from "../../../schema/export-line.ts";

// Gives a session another id: all references to the session, its loops and its runs change. The output of models and
// tools is unchanged.

export type IdMap = {
  /** New ids by old ones, of all imported sessions. */
  readonly sessions: ReadonlyMap<string, string>;
  /** Returns a new id for a run, always the same for the same run. */
  readonly run: (run: string) => string;
};

const SESSION_KEYS: ReadonlySet<string> = new Set(["session", "sessionId", "previousSession"]);
const LOOP_KEYS: ReadonlySet<string> = new Set([
  "loopId",
  "parentLoopId",
  "childLoopId",
  "lastLoopId",
  "selectedLoopId",
  "judgeLoopId",
  "loopIds",
  "allLoopIds",
]);
const RUN_KEYS: ReadonlySet<string> = new Set(["run", "evaluation"]);

/** Keys whose values come from users, models, tools or an application; ids in them are not replaced. */
const OPAQUE_KEYS: ReadonlySet<string> = new Set([
  "content",
  "arguments",
  "details",
  "data",
  "args",
  "definition",
  "metadata",
]);

/** Replaces ids. Lines must be passed in the order of the file. */
export class IdRemapper {
  readonly #to: IdMap;
  /** The longest first, because ids of sub-agents begin with their caller's. */
  readonly #sessions: readonly string[];
  readonly #loops = new Map<string, Set<string>>();
  readonly #complete = new Set<string>();

  constructor(to: IdMap) {
    this.#to = to;
    this.#sessions = [...to.sessions.keys()].sort((one, other) => other.length - one.length);
  }

  remapLine(line: BodyLine): BodyLine {
    switch (line.type) {
      case "definition":
      case "content":
        return line;
      case "session":
        return {
          ...this.#walk(line),
          id: this.remapSession(line.id),
          lastLoopId: this.#remapOptionalLoop(line.lastLoopId),
        } as BodyLine;
      case "loop": {
        const known = this.#loops.get(line.session) ?? new Set();
        known.add(line.loopId);
        this.#loops.set(line.session, known);
        return this.#walk(line);
      }
      case "branch":
        this.#complete.add(line.session);
        return this.#walk(line);
      case "evaluation":
        return { ...this.#walk(line), id: this.#to.run(line.id) };
      case "entry":
        return line.message === undefined ? this.#walk(line) : ({ ...this.#walk(line) } satisfies EntryLine);
      case "event":
      case "step":
      case "inbox":
        return this.#walk(line);
    }
  }

  /** Remaps a message that is stored as a text of its own. */
  remapMessage(message: unknown): unknown {
    return this.#walk(message);
  }

  remapSession(id: string): string {
    return this.#to.sessions.get(id) ?? id;
  }

  /** Remaps a loop's id. Loops of sessions that are not imported keep their ids. */
  remapLoop(id: string): string {
    const owner = this.#sessions.find((session) => id.startsWith(`${session}.`));
    if (owner === undefined) return id;
    if (this.#complete.has(owner) && this.#loops.get(owner)?.has(id) !== true) return id;
    return `${this.remapSession(owner)}${id.slice(owner.length)}`;
  }

  #remapOptionalLoop(id: string | undefined): string | undefined {
    return id === undefined ? undefined : this.remapLoop(id);
  }

  #walk<T>(value: T): T {
    if (Array.isArray(value)) return value.map((item) => this.#walk(item)) as T;
    if (typeof value !== "object" || value === null) return value;
    const walked = Object.entries(value).map(([key, of]) => [key, this.#remapField(key, of)]);
    return Object.fromEntries(walked) as T;
  }

  #remapField(key: string, value: unknown): unknown {
    if (OPAQUE_KEYS.has(key)) return value;
    if (SESSION_KEYS.has(key) && typeof value === "string") return this.remapSession(value);
    if (RUN_KEYS.has(key) && typeof value === "string") return this.#to.run(value);
    if (LOOP_KEYS.has(key)) {
      if (typeof value === "string") return this.remapLoop(value);
      if (Array.isArray(value)) return value.map((id) => (typeof id === "string" ? this.remapLoop(id) : id));
    }
    return this.#walk(value);
  }
}
