import { describe, expect, test } from "vitest";
import { combineResults, FilterRegistry, type FilterUse, type InputFilter } from "../../src/hooks/filters.ts";

const pass: InputFilter = () => ({ type: "pass" });
const never = () => new Promise<never>(() => {});
const fails = () => {
  throw new Error("broken");
};

describe("the combined verdict of several filters", () => {
  test("is a pass for no filters, or if all pass [FILT-01.1]", () => {
    expect(combineResults([])).toEqual({ type: "pass" });
    expect(combineResults([{ type: "pass" }, { type: "pass" }])).toEqual({ type: "pass" });
  });

  test("joins warnings to one text, in order", () => {
    expect(
      combineResults([
        { type: "warn", warning: "personal data" },
        { type: "pass" },
        { type: "warn", warning: "long" },
      ]),
    ).toEqual({ type: "warn", text: "[Warning: personal data]\n[Warning: long]" });
  });

  test("is the first rejection and drops the warnings", () => {
    expect(
      combineResults([
        { type: "warn", warning: "w" },
        { type: "reject", reason: "first" },
        { type: "reject", reason: "second" },
      ]),
    ).toEqual({ type: "reject", reason: "first" });
  });
});

describe("filters by name", () => {
  function run(registry: FilterRegistry, filters: readonly FilterUse[], text = "hello", timeoutMs = 1000) {
    return registry.run(filters, text, { signal: new AbortController().signal, timeoutMs });
  }

  test.each([
    [
      "throws when it is read",
      {
        get type() {
          throw new Error("no");
        },
      },
    ],
    ["is of no known type", { type: "perhaps" }],
    ["has a reason that is no text", { type: "reject", reason: 1 }],
  ])("reject with an answer that %s [FILT-01.3]", async (_what, answer) => {
    const registry = new FilterRegistry().register("odd", () => answer as never);
    expect((await run(registry, ["odd"])).verdict).toMatchObject({
      type: "reject",
      reason: expect.stringContaining('Input filter "odd" failed'),
    });
  });

  test("see the text in order, synchronously or asynchronously [FILT-01.1-2, X-28]", async () => {
    const seen: string[] = [];
    const registry = new FilterRegistry()
      .register("a", (text) => {
        seen.push(`a ${text}`);
        return { type: "pass" };
      })
      .register("b", async (text) => {
        seen.push(`b ${text}`);
        return { type: "warn", warning: "mind the gap" };
      });
    expect(await run(registry, ["b", "a"])).toEqual({
      verdict: { type: "warn", text: "[Warning: mind the gap]" },
      reports: [
        { filter: "b", result: { type: "warn", warning: "mind the gap" } },
        { filter: "a", result: { type: "pass" } },
      ],
    });
    expect(seen).toEqual(["b hello", "a hello"]);
  });

  test("are not called after a rejection", async () => {
    const registry = new FilterRegistry()
      .register("no", () => ({ type: "reject", reason: "not here" }))
      .register("late", fails);
    const { verdict, reports } = await run(registry, ["no", "late"]);
    expect(verdict).toEqual({ type: "reject", reason: "not here" });
    expect(reports).toHaveLength(1);
  });

  test.each([
    ["throws", fails, "threw"],
    ["hangs", never, "timed-out"],
    ["answers nonsense", () => ({ type: "maybe" }) as never, "wrong-answer"],
    ["warns without words", () => ({ type: "warn" }) as never, "wrong-answer"],
    ["rejects without a reason", () => ({ type: "reject" }) as never, "wrong-answer"],
  ])("reject if one %s, unless its policy is to pass [FILT-01.3]", async (_, filter, fault) => {
    const registry = new FilterRegistry()
      .register("closed", filter, { timeoutMs: 20 })
      .register("open", filter, { timeoutMs: 20, onFailure: "pass" })
      .register("pass", pass);
    const closed = await run(registry, ["closed", "pass"]);
    expect(closed.verdict).toMatchObject({
      type: "reject",
      reason: expect.stringContaining('Input filter "closed" failed: '),
    });
    expect(closed.reports).toMatchObject([{ result: { type: "failed", fault } }]);
    const open = await run(registry, ["open", "pass"]);
    expect(open.verdict).toEqual({ type: "pass" });
    expect(open.reports).toMatchObject([{ result: { type: "failed", fault } }, { result: { type: "pass" } }]);
    const strict = await run(registry, [{ name: "open", onFailure: "reject" }]);
    expect(strict.verdict.type).toBe("reject");
  });

  test("reject if one is unknown, and list the known ones", async () => {
    const registry = new FilterRegistry().register("moderation", pass);
    expect((await run(registry, ["moderatoin"])).verdict).toMatchObject({
      type: "reject",
      reason: expect.stringContaining('no input filter "moderatoin" on this worker; registered: moderation'),
    });
  });

  test("never pass if they are cancelled [FILT-01.3]", async () => {
    const registry = new FilterRegistry().register("open", pass, { onFailure: "pass" });
    const { verdict } = await registry.run(["open"], "hello", { signal: AbortSignal.abort() });
    expect(verdict.type).toBe("reject");
  });

  test("are not registered with an empty or taken name or an invalid time limit", () => {
    const registry = new FilterRegistry().register("a", pass);
    expect(() => registry.register("", pass)).toThrow("must have a name");
    expect(() => registry.register("a", pass)).toThrow("already registered");
    expect(() => registry.register("b", pass, { timeoutMs: 0 })).toThrow(RangeError);
    expect(registry.names).toEqual(["a"]);
  });
});
