import { expect } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";

// @ts-expect-error A script without types.
const { runScenarios, SCENARIOS } = (await import("../../scripts/mcp-conformance.mjs")) as {
  SCENARIOS: readonly (readonly [string, string | undefined])[];
  runScenarios: (wanted?: readonly string[]) => Promise<{ scenario: string; ok: boolean; said: string }[]>;
};

/** One scenario of each kind; all of them take more than a minute: `npm run conformance:mcp`. */
const SAMPLE = [
  "initialize",
  "tools_call",
  "sse-retry",
  "auth/client-credentials-basic",
  "auth/scope-step-up",
];

thoroughTest(
  "[MCP-01.2] [MCP-02] [MCP-03.1] one of each kind of the official conformance scenarios for clients passes",
  async () => {
    const rows = await runScenarios(SAMPLE);
    expect(rows.filter(({ ok }) => !ok).map(({ scenario, said }) => `${scenario}: ${said}`)).toEqual([]);
    expect(new Set(rows.map(({ scenario }) => scenario))).toEqual(new Set(SAMPLE));
    expect(SCENARIOS).toHaveLength(27);
  },
  120_000,
);
