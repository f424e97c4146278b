import { expect, test } from "vitest";
import { thoroughTest } from "../../../support/test-depth.ts";
import { score } from "./cell.ts";

test("a scorer that throws has a failed score, and the others have theirs in their order", async () => {
  const scores = await score(
    [
      { type: "exact" },
      { type: "custom", name: "broken" },
      { type: "judge", rubric: [{ id: "a", description: "Is right" }], judge: "unknown" },
      { type: "turns" },
    ],
    { subject: { answer: "A", expected: "A", turns: 2 } },
    {
      scorers: {
        broken: () => {
          throw new Error("it is broken");
        },
      },
    },
  );
  expect(scores).toEqual([
    { class: "scored", value: 1, passed: true },
    { class: "failed", value: null, explanation: 'The scorer "broken" failed: it is broken' },
    { class: "failed", value: null, explanation: "No definition is stored under unknown" },
    { class: "scored", value: 2 },
  ]);
});

test("a pattern that would take for ever is interrupted, and its scorer has failed", async () => {
  const answer = `${"a".repeat(60)}b`;
  const [regex, exact] = await score(
    [
      { type: "regex", pattern: "^(a+)+$" },
      { type: "exact", expected: answer },
    ],
    { subject: { answer } },
  );
  expect(regex).toMatchObject({
    class: "failed",
    value: null,
    explanation: "The scorer took longer than 2 s.",
  });
  expect(exact).toMatchObject({ value: 1 });
}, 20_000);

test("JSON is checked by a schema", async () => {
  const schema = { type: "object", required: ["age"], properties: { age: { type: "integer" } } };
  const json = async (answer: string, more: object = {}) =>
    (await score([{ type: "json", schema, ...more }], { subject: { answer } }))[0];
  expect(await json('{"age": 3}')).toMatchObject({ class: "scored", value: 1, passed: true });
  expect(await json('{"age": "3"}')).toMatchObject({ value: 0, explanation: "/age: must be integer" });
  expect(await json('{"age": 3, "name": "B"}', { fields: { age: 3, name: "A" } })).toMatchObject({
    value: 0.5,
  });
  expect(await json("{}", { schema: { type: "nothing" } })).toMatchObject({ class: "failed" });
});

thoroughTest(
  "a schema's pattern that would take for ever is interrupted, and the scorer has failed",
  async () => {
    const schema = { properties: { x: { pattern: "^(a+)+$" } } };
    const [json] = await score([{ type: "json", schema }], {
      subject: { answer: `{"x": "${"a".repeat(41)}b"}` },
    });
    expect(json).toMatchObject({ class: "failed" });
  },
  20_000,
);

test("an explanation has at most 500 characters, and no secret of the worker", async () => {
  const [long, secret] = await score(
    [
      { type: "custom", name: "long" },
      { type: "custom", name: "secret" },
    ],
    {},
    {
      scorers: {
        long: () => ({ value: 1, explanation: "x".repeat(1000) }),
        secret: () => ({ value: 1, explanation: "It said hunter2hunter2." }),
      },
    },
  );
  expect(long?.explanation).toHaveLength(500);
  expect(secret?.explanation).toBe("It said ***.");
});

test("a cancellation is no score", async () => {
  const aborted = new AbortController();
  aborted.abort();
  await expect(score([{ type: "exact" }], {}, { signal: aborted.signal })).rejects.toThrow("CANCELLED");
});
