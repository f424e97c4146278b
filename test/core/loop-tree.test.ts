import { describe, expect, test } from "vitest";
import {
  buildLoopChain,
  findChildren,
  findLoop,
  findParallelSiblings,
  findRootLoops,
  getLoopOrigin,
  sumUsage,
  type TreeLoop,
} from "../../src/conversation/loop-tree.ts";
import { NO_USAGE } from "../../src/core/budget/usage.ts";
import type { ContinuationKind } from "../../src/schema/record.ts";

const usage = { ...NO_USAGE, input: 3, output: 2, totalTokens: 5 };
const initial = { type: "initial" } as const;
const loop = (loopId: string, parentLoopId?: string, of: Partial<TreeLoop> = {}): TreeLoop => ({
  loopId,
  session: "s",
  parentLoopId,
  kind: parentLoopId === undefined ? initial : { type: "default" },
  ...of,
});
const branch = (loopId: string, isSelected: boolean) =>
  loop(loopId, "s.a.1", { evaluation: "e", parallel: { isSelected }, usage });

/** A prompt, an evaluation of three branches with a judge, and the loops after the selection. */
const loops = [
  loop("s.a.1", undefined, { usage }),
  branch("s.a.2", false),
  branch("s.b.3", true),
  branch("s.c.4", false),
  loop("s.j.5", "s.a.1", { evaluation: "e", usage }),
  loop("s.b.6", "s.b.3", { usage }),
  loop("s.b.7", "s.b.6"),
];
const ids = (all: readonly TreeLoop[]) => all.map(({ loopId }) => loopId);

describe("the origin of a loop", () => {
  const rows: readonly [string | undefined, ContinuationKind, string][] = [
    [undefined, initial, "fresh"],
    ["s.a.1", initial, "prompted"],
    ["s.a.1", { type: "default" }, "default"],
    ["s.a.1", { type: "rerun", tag: "t" }, "rerun"],
    ["s.a.1", { type: "branch", tag: "t" }, "branch"],
    ["s.a.1", { type: "compaction" }, "compaction"],
    ["caller.a.1", initial, "sub-agent"],
  ];
  test.each(rows)("parent %s and kind %j: %s [SES-08.1-3]", (parent, kind, origin) => {
    expect(getLoopOrigin(loop("s.a.2", parent, { kind }))).toBe(origin);
  });

  test("is sub-agent even when the session's name begins with its caller's name [SES-08.3]", () => {
    expect(getLoopOrigin({ ...loop("s.sub-1.sub.1", "s.a.1", { kind: initial }), session: "s.sub-1" })).toBe(
      "sub-agent",
    );
  });
});

describe("queries about the loops of a session", () => {
  test("find roots and children in order of start [SES-09.1]", () => {
    expect(ids(findRootLoops(loops))).toEqual(["s.a.1"]);
    expect(ids(findRootLoops(loops.slice(1)))).toEqual(["s.a.2", "s.b.3", "s.c.4", "s.j.5"]);
    expect(ids(findChildren(loops, "s.a.1"))).toEqual(["s.a.2", "s.b.3", "s.c.4", "s.j.5"]);
    expect(findChildren(loops, "s.b.7")).toEqual([]);
  });

  test("find as siblings all branches of an evaluation, including the branch itself but not the judge [SES-09.2]", () => {
    expect(ids(findParallelSiblings(loops, "s.c.4"))).toEqual(["s.a.2", "s.b.3", "s.c.4"]);
    expect(findParallelSiblings(loops, "s.j.5")).toEqual([]);
    expect(findParallelSiblings(loops, "s.b.6")).toEqual([]);
  });

  test("find one loop by its id, and sum the usage of all [SES-09.3]", () => {
    expect(findLoop(loops, "s.b.3")).toBe(loops[2]);
    expect(findLoop(loops, "nobody")).toBeUndefined();
    expect(sumUsage(loops)).toMatchObject({ input: 18, output: 12, totalTokens: 30 });
  });

  test("build the chain to a loop from the root through the selected branch [SES-09.4]", () => {
    expect(ids(buildLoopChain(loops, "s.b.7"))).toEqual(["s.a.1", "s.b.3", "s.b.6", "s.b.7"]);
    expect(ids(buildLoopChain(loops, "s.c.4"))).toEqual(["s.a.1", "s.c.4"]);
    expect(buildLoopChain(loops, "nobody")).toEqual([]);
    const astray = [...loops, loop("s.a.8", "s.a.2")];
    expect(ids(buildLoopChain(astray, "s.a.8"))).toEqual(["s.a.1", "s.b.3", "s.a.8"]);
  });
});
