import {
  array,
  assert,
  asyncProperty,
  constantFrom,
  integer,
  nat,
  oneof,
  option,
  record,
  sample,
} from "fast-check";
import { expect, test } from "vitest";
import type { Allowance } from "../../src/core/budget/account-state.ts";
import { getRunCount, thoroughTest } from "../support/test-depth.ts";
import { answer, MachineTree, type Move } from "./machine-tree.ts";

/** One tree costs as much as twenty runs of the other properties. */
const RUNS = Math.ceil(getRunCount(2000) / 20);

const limits = record({
  turns: option(integer({ min: 1, max: 60 }), { nil: null }),
  tokens: option(integer({ min: 1, max: 4000 }), { nil: null }),
  nanoUsd: constantFrom(null),
  children: option(integer({ min: 3, max: 12 }), { nil: null }),
  deadlineMs: constantFrom(null),
  depth: integer({ min: 1, max: 3 }),
});

const reply = record({
  tokens: nat(100),
  names: array(constantFrom("scout", "scout", "scout", "read", "bash"), {
    minLength: 1,
    maxLength: 3,
    size: "max",
  }),
}).map(({ tokens, names }) => answer(tokens, names));

const scripts = array(array(reply, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 });

const who = nat(30);
const move = (type: Move["type"]) => record({ type: constantFrom(type), who });
const moves = array(
  oneof(
    { weight: 30, arbitrary: move("step") },
    { weight: 2, arbitrary: move("lose") },
    { weight: 2, arbitrary: move("rotation") },
    { weight: 1, arbitrary: move("kill") },
    {
      weight: 1,
      arbitrary: record({ type: constantFrom<"stop">("stop"), who: integer({ min: 2, max: 30 }) }),
    },
  ),
  { maxLength: 80, size: "max" },
);
const story = record({ limits, scripts, moves });

type Story = {
  readonly limits: Allowance;
  readonly scripts: ConstructorParameters<typeof MachineTree>[1];
  readonly moves: readonly Move[];
};

async function played(told: Story): Promise<MachineTree> {
  const tree = new MachineTree(told.limits, told.scripts);
  for (const each of told.moves) await tree.move(each);
  await tree.finish();
  tree.check(told.limits);
  return tree;
}

test(
  "any tree of agents in any order: one result per call, amounts that add up, and no limit exceeded by more than the steps in flight [TOOL-08.1, LIM-02.2, SUB-03.3, SUB-09.2]",
  async () =>
    await assert(
      asyncProperty(story, async (told) => {
        await played(told);
      }),
      { numRuns: RUNS },
    ),
  60_000 + RUNS * 100,
);

thoroughTest("a good share of the generated trees is deep and wide", async () => {
  const trees: MachineTree[] = [];
  for (const told of sample(story, { numRuns: 60, seed: 3 })) trees.push(await played(told));
  const share = (is: (tree: MachineTree) => boolean) => trees.filter(is).length / trees.length;
  expect(share(({ all }) => all.length > 3)).toBeGreaterThan(0.3);
  expect(share(({ all }) => all.some(({ depth }) => depth > 1))).toBeGreaterThan(0.2);
  expect(share(({ sideBySide }) => sideBySide > 2)).toBeGreaterThan(0.2);
});
