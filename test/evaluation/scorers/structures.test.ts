import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scoreJson } from "../../../src/evaluation/scorers/json-fields.ts";
import { scoreCost, scoreTime, scoreTurns } from "../../../src/evaluation/scorers/measures.ts";
import { scoreToolCalls } from "../../../src/evaluation/scorers/tool-calls.ts";
import type { ScoredCall } from "../../../src/schema/score-subject.ts";
import { createSubject, parseScorer } from "./subject.ts";

describe("json", () => {
  const json = (answer: string, expected?: unknown, fields?: object) =>
    scoreJson(parseScorer({ type: "json", ...(fields && { fields }) }), createSubject({ answer, expected }));

  test("scores the fraction of fields, wherever in the answer the JSON is", () => {
    expect(json('{"a": 1, "b": {"x": [1, 2]}}', { a: 1, b: { x: [1, 2] } })).toEqual({
      class: "scored",
      value: 1,
      passed: true,
    });
    expect(json('Here:\n```json\n{"a": 1, "b": 3}\n```', { a: 1, b: 2 })).toEqual({
      class: "scored",
      value: 0.5,
      passed: false,
      explanation: "Different: b",
    });
    expect(json('{"b": {"y": 1, "x": 2}}', { b: { x: 2, y: 1 } }).value).toBe(1);
  });

  test("finds values at paths, and no inherited ones", () => {
    const fields = { "address.city": "Rome", "items.1.name": "b", "a.b": 3 };
    const answer = { address: { city: "Rome" }, items: [{ name: "a" }, { name: "b" }], "a.b": 3 };
    expect(json(JSON.stringify(answer), undefined, fields).value).toBe(1);
    expect(json('{"items": [1]}', undefined, { "items.length": 1, "constructor.name": "Object" }).value).toBe(
      0,
    );
    expect(json('{"a": null}', undefined, { a: null }).value).toBe(1);
    expect(json("{}", undefined, { a: null }).value).toBe(0);
  });

  test("scores 0 for an answer that is not JSON", () => {
    expect(json("no", { a: 1 })).toMatchObject({ class: "scored", value: 0, passed: false });
    expect(json("[".repeat(5000), { a: 1 })).toMatchObject({ class: "scored", value: 0 });
  });

  test.each([undefined, null, {}, "a", [1]])("cannot compare with %j", (expected) => {
    expect(json("{}", expected)).toMatchObject({ class: "unscorable" });
  });

  test("takes the value that matches the schema, and then compares fields", () => {
    const check = (value: unknown) => (Array.isArray(value) ? undefined : "must be a list");
    const scorer = parseScorer({ type: "json", schema: {} });
    const subject = createSubject({ answer: 'First {"a": 1}, then [5]', expected: { a: 1 } });
    expect(scoreJson(scorer, subject, check)).toMatchObject({ value: 1 });
    expect(scoreJson({ fields: { "0": 6 } }, subject, check)).toMatchObject({ value: 0 });
    expect(scoreJson(scorer, createSubject({ answer: "{}" }), check)).toMatchObject({
      value: 0,
      explanation: "must be a list",
    });
  });
});

describe("tool-calls", () => {
  const made: readonly ScoredCall[] = [
    { name: "search", arguments: { query: "x", limit: 3 } },
    { name: "read", arguments: { path: "a" } },
    { name: "read", arguments: { path: "b" } },
  ];
  const score = (fields: object, expected?: unknown, calls = made) =>
    scoreToolCalls(parseScorer({ type: "tool-calls", ...fields }), createSubject({ calls, expected }));
  const search = { name: "search" };
  const [readA, readB] = [
    { name: "read", arguments: { path: "a" } },
    { name: "read", arguments: { path: "b" } },
  ];

  test.each([
    [{}, [search, readB], 1],
    [{}, [readB, search], 0.5],
    [{}, [readB, readA], 0.5],
    [{ order: "any" }, [readB, search], 1],
    [{ order: "any" }, [{ name: "read" }, readA, readB], 2 / 3],
    [{ order: "any" }, [{ name: "read" }, readA], 1],
    [{ order: "exact" }, [search, readA, readB], 1],
    [{ order: "exact" }, [search, readA], 0],
    [{ order: "exact" }, [], 0],
    [{}, [], 1],
    [{ arguments: "equal" }, [{ name: "search", arguments: { query: "x" } }], 0],
    [{ arguments: "equal" }, [{ name: "search", arguments: { limit: 3, query: "x" } }], 1],
    [{ arguments: "subset" }, [{ name: "search", arguments: { query: "x" } }], 1],
    [{ arguments: "subset" }, [{ name: "search", arguments: { query: "y" } }], 0],
    [{ arguments: "ignore" }, [{ name: "search", arguments: { query: "y" } }], 1],
    [{}, [{ name: "write" }, { name: "write" }], 0],
  ])("%j with %j scores %d", (fields, expected, value) => {
    expect(score(fields, expected)).toMatchObject({ class: "scored", value, passed: value === 1 });
    expect(score({ ...fields, calls: expected })).toMatchObject({ class: "scored", value });
  });

  test.each([undefined, "read", [{}], ["read"], [{ name: "a", arguments: 1 }]])(
    "cannot compare with %j",
    (expected) => expect(score({}, expected)).toMatchObject({ class: "unscorable" }),
  );

  test("the order can only lower the score", () => {
    const call = fc.record({ name: fc.constantFrom("a", "b", "c"), arguments: fc.constant({}) });
    const calls = fc.array(call, { maxLength: 8 });
    fc.assert(
      fc.property(calls, calls, (expected, given) => {
        const [exact, inOrder, any] = ["exact", "in-order", "any"].map(
          (order) => score({ order }, expected, given).value as number,
        ) as [number, number, number];
        expect(exact).toBeLessThanOrEqual(inOrder);
        expect(inOrder).toBeLessThanOrEqual(any);
        expect(any).toBeLessThanOrEqual(1);
        expect(score({}, given, given).value).toBe(1);
      }),
    );
  });
});

test("cost, turns and time are the values themselves, with a success only where there is a limit", () => {
  const subject = createSubject({ costUsd: 0.2, turns: 3, durationMs: 1500 });
  expect(scoreCost(parseScorer({ type: "cost" }), subject)).toEqual({ class: "scored", value: 0.2 });
  expect(scoreTurns(parseScorer({ type: "turns", max: 3 }), subject)).toEqual({
    class: "scored",
    value: 3,
    passed: true,
  });
  expect(scoreTime(parseScorer({ type: "time", max: 1000 }), subject)).toMatchObject({ passed: false });
  expect(scoreCost(parseScorer({ type: "cost" }), createSubject({ costUsd: null }))).toMatchObject({
    class: "unscorable",
    value: null,
  });
});
