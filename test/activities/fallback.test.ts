import { describe, expect, test } from "vitest";
import { askWithFallbacks } from "../../src/activities/model/model-fallback.ts";
import { anthropic, local } from "../../src/config/vendor-models.ts";
import { Outages } from "../../src/models/outages.ts";
import {
  ProviderError,
  type ProviderErrorFacts,
  type ProviderFault,
} from "../../src/models/provider-error.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";

const small = { ...local("http://localhost:1/v1", "small"), contextWindow: 1000, maxTokens: 100 };
const large = local("http://localhost:1/v1", "large");
const definition = AgentDefinition.parse({
  model: anthropic("claude-x"),
  fallbacks: [small, large],
  retry: { maxDelayMs: 30_000 },
});
/** @param faults - By model, the fault that it fails with. */
async function asked(
  faults: Readonly<Record<string, [ProviderFault, ProviderErrorFacts?]>>,
  { isLast = false, length = 4, agent = definition, outages = new Outages() } = {},
) {
  const order: string[] = [];
  const ask = async ({ model: { id } }: AgentDefinition) => {
    order.push(id);
    const [fault, facts] = faults[id] ?? [];
    if (fault !== undefined) throw new ProviderError(fault, `${id} failed`, facts);
    return `by ${id}`;
  };
  const sizeFor = ({ model: { maxTokens } }: AgentDefinition) => length / 4 + maxTokens;
  const asking = { outages, ask, estimateSize: sizeFor, isLastAttempt: () => isLast };
  const ended = await askWithFallbacks(agent, asking).catch((error: unknown) => error);
  return { order, ended };
}

test.each([
  ["rate-limited", {}, false, false],
  ["rate-limited", {}, true, true],
  ["rate-limited", { retryAfterMs: 30_000 }, false, false],
  ["rate-limited", { retryAfterMs: 30_001 }, false, true],
  ["network", {}, false, false],
  ["network", {}, true, true],
  ["api", { status: 500 }, false, true],
  ["api", { status: 402 }, false, true],
  ["api", { vendorType: "server_error" }, false, true],
  ["api", { status: 400 }, true, false],
  ["api", { status: 404 }, true, false],
  ["api", {}, true, false],
  ["auth", { status: 401 }, false, true],
  ["overflow", { status: 400 }, true, false],
  ["cancelled", {}, true, false],
  ["other", {}, true, false],
] as const)(
  "[PROV-28] %s %j, last attempt %s: a fallback is called: %s",
  async (fault, facts, isLast, falls) => {
    const { order, ended } = await asked({ "claude-x": [fault, facts] }, { isLast });
    expect(order).toEqual(falls ? ["claude-x", "small"] : ["claude-x"]);
    if (!falls) return expect(ended).toMatchObject({ fault, message: "claude-x failed" });
    const from = [{ provider: "anthropic", model: "claude-x", fault, message: "claude-x failed" }];
    expect(ended).toMatchObject({
      answer: "by small",
      definition: { model: { id: "small" } },
      fallback: { to: { provider: "local", model: "small" }, from },
    });
  },
);

test("an answer of the agent's own model reports no fallback, nor does a failure without fallbacks", async () => {
  expect(await asked({})).toEqual({ order: ["claude-x"], ended: { answer: "by claude-x", definition } });
  const { fallbacks: _, ...agent } = definition;
  const { ended } = await asked({ "claude-x": ["auth"] }, { agent });
  expect(ended).toMatchObject({ fault: "auth", message: "claude-x failed" });
});

test("a fallback whose window is too small is skipped, and after any failure of a fallback the next one is called [PROV-28]", async () => {
  const auth = { "claude-x": ["auth"] as [ProviderFault] };
  const { order, ended } = await asked(auth, { length: 4000 });
  expect(order).toEqual(["claude-x", "large"]);
  expect(ended).toMatchObject({
    fallback: { from: [{ fault: "auth" }, { model: "small", fault: "overflow" }] },
  });
  expect((await asked({ ...auth, small: ["overflow"] })).order).toEqual(["claude-x", "small", "large"]);
  expect((await asked({ ...auth, small: ["cancelled"] })).order).toEqual(["claude-x", "small"]);
});

test("when no model answers, the failure is that of the agent's own model and names the others [PROV-28]", async () => {
  const busy = { status: 529, retryAfterMs: 5 };
  const faults = { "claude-x": ["rate-limited", busy], small: ["api"], large: ["network"] } as never;
  const { ended } = await asked(faults, { isLast: true });
  expect(ended).toMatchObject({ fault: "rate-limited", ...busy });
  expect((ended as Error).message).toBe(
    "claude-x failed The fallbacks failed too: local/small: small failed; local/large: large failed",
  );
});

describe("what a worker remembers [PROV-28]", () => {
  const clock = { ms: 0 };
  const made = () => {
    clock.ms = 0;
    return new Outages(() => clock.ms);
  };
  const gone = { "claude-x": ["network"] as [ProviderFault] };

  test("the next call begins with the fallback that works, and the record states why", async () => {
    const outages = made();
    await asked(gone, { isLast: true, outages });
    clock.ms = 18_000;
    const { order, ended } = await asked({}, { outages });
    expect(order).toEqual(["small"]);
    const message = "not called again for 42 s: claude-x failed";
    expect(ended).toMatchObject({
      definition: { model: { id: "small" } },
      fallback: {
        to: { model: "small" },
        from: [{ provider: "anthropic", model: "claude-x", fault: "network", message }],
      },
    });
    clock.ms = 60_000;
    expect(await asked({}, { outages })).toEqual({
      order: ["claude-x"],
      ended: { answer: "by claude-x", definition },
    });
    expect((await asked({}, { outages })).order).toEqual(["claude-x"]);
  });

  test("one failure of a model that is retried is enough", async () => {
    const outages = made();
    await asked(gone, { isLast: true, outages });
    clock.ms = 60_000;
    expect((await asked(gone, { isLast: false, outages })).order).toEqual(["claude-x", "small"]);
    clock.ms += 119_999;
    expect((await asked({}, { outages })).order).toEqual(["small"]);
  });

  test("a model that a retry calls again does not count as down", async () => {
    const outages = made();
    expect((await asked(gone, { isLast: false, outages })).order).toEqual(["claude-x"]);
    expect((await asked({}, { outages })).order).toEqual(["claude-x"]);
  });

  test("a model that is known to be down is called when no other is left, and fails under its own name", async () => {
    const outages = made();
    await asked(gone, { isLast: true, outages });
    const others = { small: ["auth"], large: ["api", { status: 500 }] } as never;
    const { order, ended } = await asked(others, { outages });
    expect(order).toEqual(["small", "large", "claude-x"]);
    expect(ended).toEqual({ answer: "by claude-x", definition });
    const all = await asked({ ...gone, ...(others as object) }, { isLast: true, outages: made() });
    expect(all.ended).toMatchObject({ fault: "network" });
    const again = made();
    await asked({ ...gone, ...(others as object) }, { isLast: true, outages: again });
    expect((await asked({}, { outages: again })).order).toEqual(["claude-x"]);
  });
});
