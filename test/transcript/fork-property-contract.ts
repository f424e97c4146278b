import fc from "fast-check";
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { isThorough, type thorough } from "../support/depth.ts";
import type { Bench } from "./contract.ts";
import { entry, message, opening, step, texts, USAGE, write } from "./story.ts";

/** What happens next; numbers are taken modulo what there is. */
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
  | { readonly type: "bequeath"; readonly session: number };

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
  { weight: 1, arbitrary: fc.record({ type: fc.constant("bequeath" as const), session: fc.nat() }) },
);

/** What a reader must see of every branch of every session. */
type Known = { head: string; readonly branches: Map<string, readonly string[]> };

export function forkPropertyContract(make: () => Promise<Bench>, random: typeof thorough): void {
  describe("random forks, rewinds and runs", () => {
    let bench: Bench;
    beforeEach(async () => {
      bench = await make();
    });
    afterEach(() => bench.dispose());

    random(
      "every branch shows what was said on it, whatever is begun beside it",
      async () => {
        let stories = 0;
        await fc.assert(
          fc.asyncProperty(fc.array(move, { minLength: 5, maxLength: 30 }), async (moves) => {
            await new Story(bench.transcript, `p${stories++}`).play(moves);
          }),
          { numRuns: Number(process.env["HOLDFAST_PROPERTY_RUNS"] ?? (isThorough ? 40 : 12)) },
        );
      },
      600_000,
    );
  });
}

class Story {
  readonly #transcript: Transcript;
  readonly #name: string;
  readonly #sessions = new Map<string, Known>();
  #count = 0;

  constructor(transcript: Transcript, name: string) {
    this.#transcript = transcript;
    this.#name = name;
  }

  async play(moves: readonly Move[]): Promise<void> {
    this.#sessions.set(this.#name, { head: "main", branches: new Map([["main", []]]) });
    await this.#run(this.#name, undefined, 1, true);
    for (const one of moves) {
      const session = pick([...this.#sessions.keys()], one.session);
      if (one.type === "bequeath") await this.#transcript.bequeath(session);
      else await this.#move(session, this.#known(session), one);
      await this.#check();
    }
  }

  async #move(session: string, known: Known, one: Exclude<Move, { type: "bequeath" }>): Promise<void> {
    const branch = pick([...known.branches.keys()], one.branch);
    if (one.type === "run") {
      await this.#run(session, one.on === "head" ? undefined : branch, one.answers, one.closed);
      return;
    }
    const shown = known.branches.get(branch) ?? [];
    const position = one.position % (shown.length + 1);
    const before = shown.slice(0, position);
    if (one.type === "fork") {
      const into = one.into ? `${this.#name}-${this.#count++}` : undefined;
      const forked = await this.#transcript.fork({
        session,
        atMs: 1,
        at: { branch, position },
        ...(into === undefined ? {} : { into }),
      });
      if (forked.type !== "forked") throw new Error(forked.type);
      if (into === undefined) known.branches.set(forked.branch, before);
      else this.#sessions.set(into, { head: forked.branch, branches: new Map([[forked.branch, before]]) });
      return;
    }
    const running = (await this.#transcript.loops(session)).filter(({ status }) => status === "running");
    const over = running.map(({ loopId }) => loopId);
    const rewound = await this.#transcript.rewind({ session, atMs: 1, to: { branch, position }, over });
    if (rewound.type !== "rewound") throw new Error(rewound.type);
    known.head = rewound.head.branch;
    known.branches.set(known.head, before);
  }

  async #run(session: string, on: string | undefined, answers: number, closed: boolean): Promise<void> {
    const known = this.#known(session);
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
    const said = Array.from({ length: answers }, (_, index) => `${name}, answer ${index}`);
    const base = before.length + 1;
    const entries = said.map((text, index) => entry(base + index, text));
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
    known.branches.set(opened.branch, [...before, `prompt of ${name}`, ...said]);
  }

  #known(session: string): Known {
    return this.#sessions.get(session) as Known;
  }

  async #check(): Promise<void> {
    for (const [session, { head, branches }] of this.#sessions) {
      expect((await this.#transcript.session(session))?.headBranch).toBe(head);
      const listed = (await this.#transcript.branches(session)).map(({ id }) => id);
      expect(listed.sort()).toEqual([...branches.keys()].sort());
      for (const [branch, shown] of branches) {
        expect(await texts(this.#transcript, session, branch)).toEqual(shown);
        expect(await this.#transcript.length(session, branch)).toBe(shown.length);
      }
    }
  }
}

function pick<Item>(items: readonly Item[], number: number): Item {
  return items[number % items.length] as Item;
}
