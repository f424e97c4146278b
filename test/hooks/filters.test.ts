import { describe, expect, test } from "vitest";
import { combineResults, FilterRegistry, type FilterUse, type InputFilter } from "../../src/hooks/filters.ts";

const pass: InputFilter = () => ({ type: "pass" });
const never = () => new Promise<never>(() => {});
const fails = () => {
  throw new Error("broken");
};

describe("what several filters say together", () => {
  test("nothing and passes are a pass [FILT-01]", () => {
    expect(combineResults([])).toEqual({ type: "pass" });
    expect(combineResults([{ type: "pass" }, { type: "pass" }])).toEqual({ type: "pass" });
  });

  test("warnings become one text, in order", () => {
    expect(
      combineResults([
        { type: "warn", warning: "personal data" },
        { type: "pass" },
        { type: "warn", warning: "long" },
      ]),
    ).toEqual({ type: "warn", text: "[Warning: personal data]\n[Warning: long]" });
  });

  test("the first rejection wins and drops the warnings", () => {
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
  ])("an answer that %s rejects [FILT-01]", async (_what, answer) => {
    const registry = new FilterRegistry().register("odd", () => answer as never);
    expect((await run(registry, ["odd"])).verdict).toMatchObject({
      type: "reject",
      reason: expect.stringContaining('Input filter "odd" failed'),
    });
  });

  test("see the text, in order, at once or later [FILT-01, X-28]", async () => {
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

  test("are not asked behind a rejection", async () => {
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
  ])("one that %s rejects, unless its policy is to pass [FILT-01]", async (_, filter, how) => {
    const registry = new FilterRegistry()
      .register("closed", filter, { timeoutMs: 20 })
      .register("open", filter, { timeoutMs: 20, onFailure: "pass" })
      .register("pass", pass);
    const closed = await run(registry, ["closed", "pass"]);
    expect(closed.verdict).toMatchObject({
      type: "reject",
      reason: expect.stringContaining('Input filter "closed" failed: '),
    });
    expect(closed.reports).toMatchObject([{ result: { type: "failed", how } }]);
    const open = await run(registry, ["open", "pass"]);
    expect(open.verdict).toEqual({ type: "pass" });
    expect(open.reports).toMatchObject([{ result: { type: "failed", how } }, { result: { type: "pass" } }]);
    const strict = await run(registry, [{ name: "open", onFailure: "reject" }]);
    expect(strict.verdict.type).toBe("reject");
  });

  test("an unknown one rejects and says what there is", async () => {
    const registry = new FilterRegistry().register("moderation", pass);
    expect((await run(registry, ["moderatoin"])).verdict).toMatchObject({
      type: "reject",
      reason: expect.stringContaining('no input filter "moderatoin" on this worker; registered: moderation'),
    });
  });

  test("a cancelled one never passes [FILT-01]", async () => {
    const registry = new FilterRegistry().register("open", pass, { onFailure: "pass" });
    const { verdict } = await registry.run(["open"], "hello", { signal: AbortSignal.abort() });
    expect(verdict.type).toBe("reject");
  });

  test("a name that is empty or taken and a time limit that is none are refused", () => {
    const registry = new FilterRegistry().register("a", pass);
    expect(() => registry.register("", pass)).toThrow("must have a name");
    expect(() => registry.register("a", pass)).toThrow("already registered");
    expect(() => registry.register("b", pass, { timeoutMs: 0 })).toThrow(RangeError);
    expect(registry.names).toEqual(["a"]);
  });
});
