import fc, {
  boolean,
  constant,
  constantFrom,
  double,
  type IProperty,
  integer,
  array as listOf,
  nat,
  oneof,
  property,
  record,
} from "fast-check";
import { describe, test } from "vitest";
import { getRunCount } from "../support/test-depth.ts";
import { type Action, MAX_STEP, Tree } from "./budget-tree.ts";

const RUNS = getRunCount(500);
const check = <T>(checked: IProperty<T>) => fc.assert(checked, { numRuns: RUNS });

describe("any budget tree, with actions in any order", () => {
  const limit = (max: number) =>
    oneof({ weight: 4, arbitrary: integer({ min: 1, max }) }, { weight: 1, arbitrary: constant(null) });
  const own = (depth: number) =>
    record({
      turns: limit(40),
      tokens: limit(MAX_STEP.tokens * 20),
      nanoUsd: limit(MAX_STEP.nanoUsd * 20),
      children: limit(20),
      deadlineMs: constant(null),
      depth: integer({ min: 0, max: depth }),
    });
  const who = nat(40);
  const step = record({
    type: constant("begin-step" as const),
    who,
    tokens: nat(MAX_STEP.tokens),
    costUsd: double({ min: 0, max: 0.003, noNaN: true }).map((dollars) => Math.round(dollars * 1e6) / 1e6),
  });
  const action = oneof(
    { weight: 8, arbitrary: step },
    { weight: 8, arbitrary: record({ type: constant("end-step" as const), who }) },
    {
      weight: 5,
      arbitrary: record({
        type: constant("spawn" as const),
        who,
        own: listOf(own(4), { minLength: 1, maxLength: 4 }),
        keep: constantFrom(0 as const, 1 as const),
        unborn: boolean(),
      }),
    },
    { weight: 2, arbitrary: record({ type: constant("end" as const), who: integer({ min: 1, max: 40 }) }) },
    { weight: 2, arbitrary: record({ type: constant("die" as const), who: integer({ min: 1, max: 40 }) }) },
    { weight: 1, arbitrary: record({ type: constant("raise" as const), who, by: nat(2000) }) },
    { weight: 2, arbitrary: record({ type: constant("continue-as-new" as const), who }) },
  );

  test("exceeds no limit by more than the steps in flight, has no negative or leftover reservation, and accounts for all spending", () => {
    check(
      property(
        own(4).map((root) => ({ ...root, depth: 4 })),
        listOf<Action>(action, { maxLength: 60, size: "max" }),
        (root, actions) => {
          const tree = new Tree(root);
          for (const each of actions) {
            tree.do(each);
            tree.check();
          }
          tree.finish();
          tree.check();
        },
      ),
    );
  }, 120_000);
});
