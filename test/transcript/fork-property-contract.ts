import fc from "fast-check";
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { isThorough, type thoroughTest } from "../support/test-depth.ts";
import { entry, message, opening, readTexts, step, USAGE, write } from "./sample-writes.ts";
import type { TranscriptFixture } from "./transcript-contract.ts";

/** The next action; numbers are reduced modulo the number of choices. */
type Move =
  | {
      readonly type: "run";
      readonly session: number;
      readonly branch: number;
      readonly on: "head" | "branch";
      readonly answers: number;
      readonly closed: boolean;
    }
  | {
      readonly type: "fork";
      readonly session: number;
      readonly branch: number;
      readonly position: number;
      readonly into: boolean;
    }
  | { readonly type: "rewind"; readonly session: number; readonly branch: number; readonly position: number }
  | { readonly type: "detachForks"; readonly session: number };

const place = { session: fc.nat(), branch: fc.nat(), position: fc.nat() };
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("run" as const),
      session: fc.nat(),
      branch: fc.nat(),
      on: fc.constantFrom("head" as const, "branch" as const),
      answers: fc.integer({ min: 0, max: 3 }),
      closed: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("fork" as const), ...place, into: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("rewind" as const), ...place }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("detachForks" as const), session: fc.nat() }) },
);

/** What a reader must see of every branch of a session. */
type SessionModel = { head: string; readonly branches: Map<string, readonly string[]> };

export function testForkProperties(
  make: () => Promise<TranscriptFixture>,
  random: typeof thoroughTest,
): void {
  describe("random forks, rewinds and runs", () => {
    let bench: TranscriptFixture;
    beforeEach(async () => {
      bench = await make();
    });
    afterEach(() => bench.dispose());

    random(
      "every branch shows exactly its own conversation, whatever starts beside it",
      async () => {
        let stories = 0;
        await fc.assert(
          fc.asyncProperty(fc.array(move, { minLength: 5, maxLength: 30 }), async (moves) => {
            await new RandomHistory(bench.transcript, `p${stories++}`).play(moves);
          }),
          { numRuns: Number(process.env["HOLDFAST_PROPERTY_RUNS"] ?? (isThorough ? 40 : 12)) },
        );
      },
      600_000,
    );
  });
}

class RandomHistory {
  readonly #transcript: Transcript;
  readonly #name: string;
  readonly #sessions = new Map<string, SessionModel>();
  #count = 0;

  constructor(transcript: Transcript, name: string) {
    this.#transcript = transcript;
    this.#name = name;
  }

  async play(moves: readonly Move[]): Promise<void> {
    this.#sessions.set(this.#name, { head: "main", branches: new Map([["main", []]]) });
    await this.#runLoop(this.#name, undefined, 1, true);
    for (const one of moves) {
      const session = pick([...this.#sessions.keys()], one.session);
      if (one.type === "detachForks") await this.#transcript.detachForks(session);
      else await this.#applyMove(session, this.#getModel(session), one);
      await this.#check();
    }
  }

  async #applyMove(
    session: string,
    model: SessionModel,
    one: Exclude<Move, { type: "detachForks" }>,
  ): Promise<void> {
    const branch = pick([...model.branches.keys()], one.branch);
    if (one.type === "run") {
      await this.#runLoop(session, one.on === "head" ? undefined : branch, one.answers, one.closed);
      return;
    }
    const visible = model.branches.get(branch) ?? [];
    const position = one.position % (visible.length + 1);
    const before = visible.slice(0, position);
    if (one.type === "fork") {
      const into = one.into ? `${this.#name}-${this.#count++}` : undefined;
      const forked = await this.#transcript.fork({
        session,
        atMs: 1,
        at: { branch, position },
        ...(into === undefined ? {} : { into }),
      });
      if (forked.type !== "forked") throw new Error(forked.type);
      if (into === undefined) model.branches.set(forked.branch, before);
      else this.#sessions.set(into, { head: forked.branch, branches: new Map([[forked.branch, before]]) });
      return;
    }
    const running = (await this.#transcript.readLoops(session)).filter(({ status }) => status === "running");
    const over = running.map(({ loopId }) => loopId);
    const rewound = await this.#transcript.rewind({
      session,
      atMs: 1,
      to: { branch, position },
      endedLoopIds: over,
    });
    if (rewound.type !== "rewound") throw new Error(rewound.type);
    model.head = rewound.head.branch;
    model.branches.set(model.head, before);
  }

  async #runLoop(session: string, on: string | undefined, answers: number, closed: boolean): Promise<void> {
    const known = this.#getModel(session);
    const name = `${this.#name}-r${this.#count++}`;
    const opened = await this.#transcript.openLoop(
      opening({
        step: step({ session, run: name, number: 0, kind: "open-loop" }),
        prompts: [message(name, `prompt of ${name}`)],
        ...(on === undefined ? {} : { at: { branch: on } }),
      }),
    );
    const before = known.branches.get(on ?? known.head) ?? [];
    expect(opened).toMatchObject({ branch: on ?? known.head, from: before.length });
    const texts = Array.from({ length: answers }, (_, index) => `${name}, answer ${index}`);
    const base = before.length + 1;
    const entries = texts.map((text, index) => entry(base + index, text));
    const loop = { loopId: opened.loopId, branch: opened.branch, base };
    await this.#transcript.store(write(loop, { step: step({ session, run: name }), entries }));
    if (closed) {
      await this.#transcript.closeLoop({
        ...write({ ...loop, base: base + answers }, { step: step({ session, run: name, number: 2 }) }),
        status: "completed",
        outcome: { type: "answered", stopReason: "stop" },
        usage: USAGE,
        costUsd: 0,
        turns: 1,
        to: base + answers,
      });
    }
    known.head = opened.branch;
    known.branches.set(opened.branch, [...before, `prompt of ${name}`, ...texts]);
  }

  #getModel(session: string): SessionModel {
    return this.#sessions.get(session) as SessionModel;
  }

  async #check(): Promise<void> {
    for (const [session, { head, branches }] of this.#sessions) {
      expect((await this.#transcript.readSession(session))?.headBranch).toBe(head);
      const listed = (await this.#transcript.readBranches(session)).map(({ id }) => id);
      expect(listed.sort()).toEqual([...branches.keys()].sort());
      for (const [branch, shown] of branches) {
        expect(await readTexts(this.#transcript, session, branch)).toEqual(shown);
        expect(await this.#transcript.countEntries(session, branch)).toBe(shown.length);
      }
    }
  }
}

function pick<Item>(items: readonly Item[], number: number): Item {
  return items[number % items.length] as Item;
}
