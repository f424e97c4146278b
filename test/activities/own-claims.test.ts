import { expect, test } from "vitest";
import { openOwnClaim } from "../../src/activities/tool/own-claims.ts";
import { FencedError } from "../../src/store/transcript/store-error.ts";
import { step } from "../transcript/sample-writes.ts";

const ours = (generation: number) => ({ generation, process: "p1", startedAtMs: 1 });
let runs = 0;
const fresh = (generation = 0, run = `run ${runs++}`) => step({ run, generation });

test("a claim whose response was lost is not a lost execution, but a claim of another process is", () => {
  const claim = openOwnClaim(fresh());
  const other = { ...ours(0), process: "p2" };
  expect(claim.filterLost([other, ours(0)])).toEqual([other]);
});

test("a claim whose call has begun counts as lost for later executions in the same process", () => {
  const own = fresh();
  openOwnClaim(own).begin();
  expect(openOwnClaim({ ...own, generation: 1 }).filterLost([ours(0)])).toEqual([ours(0)]);
  expect(openOwnClaim(own).filterLost([ours(0)])).toEqual([ours(0)]);
});

test("an execution that is overtaken in the same process before its call begins cannot begin, so the call runs once", () => {
  const own = fresh();
  const first = openOwnClaim(own);
  const second = openOwnClaim({ ...own, generation: 1 });
  expect(second.filterLost([ours(0)])).toEqual([]);
  second.begin();
  expect(() => first.begin()).toThrow(FencedError);
  expect([first.hasBegun, second.hasBegun]).toEqual([false, true]);
});

test("a claim that this process does not remember counts as begun", () => {
  const own = fresh();
  const claim = openOwnClaim(own);
  claim.begin();
  claim.settle();
  expect(openOwnClaim({ ...own, generation: 3 }).filterLost([ours(0)])).toEqual([ours(0)]);
});

test("a claim is running from the beginning of its call until its execution is released", () => {
  const own = fresh();
  const first = openOwnClaim(own);
  expect(first.isRunning(0)).toBe(false);
  first.begin();
  const second = openOwnClaim({ ...own, generation: 1 });
  expect([second.isRunning(0), second.isRunning(1)]).toEqual([true, false]);
  first.release();
  expect(second.isRunning(0)).toBe(false);
});
