import fc from "fast-check";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { FencedError } from "../../src/store/transcript/store-error.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { isThorough, type thoroughTest } from "../support/test-depth.ts";
import { opening, readEventTexts, readTexts, step } from "./sample-writes.ts";
import { SimulatedRun } from "./simulated-run.ts";
import type { TranscriptFixture } from "./transcript-contract.ts";

/** The next action and its run; numbers are reduced modulo the number of choices. */
type Move =
  | { readonly type: "call"; readonly run: number; readonly call: number; readonly crash: boolean }
  | { readonly type: "repeat"; readonly run: number }
  | { readonly type: "reset"; readonly run: number };

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      type: fc.constant("call" as const),
      run: fc.nat(),
      call: fc.nat(),
      crash: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("repeat" as const), run: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("reset" as const), run: fc.nat() }) },
);

/** The number of calls in each batch of a run, and whether a user message precedes them. */
const units = fc.array(fc.record({ calls: fc.integer({ min: 1, max: 3 }), steered: fc.boolean() }), {
  minLength: 1,
  maxLength: 4,
});

/** Tests all five invariants with several runs of one loop, each reset from another and all still writing. */
export function testProperties(make: () => Promise<TranscriptFixture>, random: typeof thoroughTest): void {
  describe("random interleavings of runs", () => {
    let bench: TranscriptFixture;
    beforeEach(async () => {
      bench = await make();
    });
    afterEach(() => bench.dispose());

    random(
      "I1 to I5 hold at every step, and each run ends with exactly its own conversation",
      async () => {
        let sessions = 0;
        await fc.assert(
          fc.asyncProperty(units, fc.array(move, { minLength: 5, maxLength: 40 }), async (plan, moves) => {
            await playMoves(bench.transcript, `s${sessions++}`, plan, moves);
          }),
          { numRuns: Number(process.env["HOLDFAST_PROPERTY_RUNS"] ?? (isThorough ? 60 : 12)) },
        );
      },
      600_000,
    );
  });
}

async function playMoves(
  transcript: Transcript,
  session: string,
  plan: readonly { calls: number; steered: boolean }[],
  moves: readonly Move[],
): Promise<void> {
  const first = step({ session, run: `${session}-0`, number: 0, kind: "open-loop" });
  const { loopId } = await transcript.openLoop(opening({ step: first }));
  const runs = [
    SimulatedRun.create(transcript, { session, loopId, run: first.run, history: ["hello"], plan }),
  ];
  const seen = new Map<string, string[]>();
  let newest = runs[0]!;
  let inLine = true;

  for (const next of moves) {
    const run = runs[next.run % runs.length]!;
    if (next.type === "call") await run.completeCall(next.call, next.crash);
    else if (next.type === "repeat") await repeatWrites(run);
    else if (runs.length < 4 && run.isResettable) {
      inLine &&= run === newest;
      newest = run.reset(`${session}-${runs.length}`);
      runs.push(newest);
      await newest.completeCall(0, false);
    }
    await checkReaders(transcript, session, loopId, seen);
  }
  for (const run of runs) await run.finish();
  await checkReaders(transcript, session, loopId, seen);
  for (const run of runs) expect(await readTexts(transcript, session, run.branch)).toEqual(run.history);
  if (inLine) expect(await readEventTexts(transcript, loopId)).toEqual(newest.events);
  expect((await transcript.readSession(session))?.headBranch).toBe(newest.branch);
}

/** I3 and I4. */
async function repeatWrites(run: SimulatedRun): Promise<void> {
  const done = run.lastStored;
  if (done === undefined) return;
  const again = await run.transcript.store({
    ...done.write,
    result: "another",
    outbox: { entries: [], events: [] },
  });
  expect(again.result).toBe(done.write.result);
  const open = run.lastClaimed;
  if (open === undefined) return;
  const older = { ...open.step, generation: open.step.generation - 1 };
  const late = { entries: open.write.entries, events: open.write.outbox.events };
  await expect(run.transcript.claim(older, open.write, late, 1)).rejects.toThrow(FencedError);
  await expect(run.transcript.store({ ...open.write, step: older })).rejects.toThrow(FencedError);
}

/** I1 and I5: what was visible once stays visible, without gaps from the beginning. */
async function checkReaders(
  transcript: Transcript,
  session: string,
  loopId: string,
  seen: Map<string, string[]>,
): Promise<void> {
  for (const { id } of await transcript.readBranches(session)) {
    const entries = await transcript.readEntries(session, id, 0, 1000);
    expect(entries.map(({ position }) => position)).toEqual(entries.map((_, index) => index));
    expect(await transcript.countEntries(session, id)).toBe(entries.length);
    const now = await readTexts(transcript, session, id);
    const before = seen.get(id) ?? [];
    expect(now.slice(0, before.length)).toEqual(before);
    seen.set(id, now);
  }
  const events = await transcript.readEvents(loopId, 0);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index));
}
