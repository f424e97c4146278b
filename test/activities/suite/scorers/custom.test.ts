import { expect, test } from "vitest";
import type { ScorerAnswer, ScorerRequest } from "../../../../src/worker.ts";
import { score } from "./cell.ts";

const answerWith = async (answer: unknown) =>
  (
    await score(
      [{ type: "custom", name: "mine" }],
      {},
      { scorers: { mine: async () => answer as ScorerAnswer } },
    )
  )[0];

test.each([
  [0.25, { class: "scored", value: 0.25 }],
  [true, { class: "scored", value: 1, passed: true }],
  [false, { class: "scored", value: 0, passed: false }],
  [
    { value: 3, passed: false, points: { a: 1 }, costUsd: 0.1, explanation: "Why", other: 1 },
    { class: "scored", value: 3, passed: false, points: { a: 1 }, costUsd: 0.1, explanation: "Why" },
  ],
  [
    { value: null, explanation: "No reference" },
    { class: "unscorable", value: null, explanation: "No reference" },
  ],
])("the answer %j is the score %j", async (answer, expected) => {
  expect(await answerWith(answer)).toEqual(expected);
});

test.each([undefined, "1", Number.NaN, {}, { value: "1" }, { value: Number.POSITIVE_INFINITY }])(
  "the answer %j is no score",
  async (answer) => {
    expect(await answerWith(answer)).toMatchObject({ class: "failed", value: null });
  },
);

test("a scorer gets copies of the cell, its settings and messages", async () => {
  let request: ScorerRequest | undefined;
  const metadata = { level: 3 };
  await score(
    [{ type: "custom", name: "mine", settings: { strict: true } }],
    { subject: { answer: "A", expected: ["B"], metadata } },
    {
      scorers: {
        mine: (given) => {
          request = given;
          (given.metadata as { level: number }).level = 4;
          return 1;
        },
      },
    },
  );
  expect(request).toMatchObject({ answer: "A", expected: ["B"], settings: { strict: true }, messages: [] });
  expect(request?.signal).toBeInstanceOf(AbortSignal);
  expect(metadata.level).toBe(3);
});

test("a scorer that no worker has is named", async () => {
  expect(await score([{ type: "custom", name: "yours" }], {}, { scorers: { mine: () => 1 } })).toEqual([
    {
      class: "failed",
      value: null,
      explanation: 'No scorer "yours" is registered on this worker; registered: mine.',
    },
  ]);
});
