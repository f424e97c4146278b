import { expect, expectTypeOf, test } from "vitest";
import * as plugin from "../../src/worker/plugin.ts";
import * as api from "../../src/workflows/api.ts";
import * as workflows from "../../src/workflows/index.ts";
import { WORKFLOW_NAMES } from "../../src/workflows/messages.ts";

test("pin: the values that holdfast/workflows and holdfast/plugin export", () => {
  const helpers = ["executeAgent", "getAgentHandle", "startAgent"];
  expect(Object.keys(api).sort()).toEqual([...WORKFLOW_NAMES, ...helpers].sort());
  expect(Object.keys(plugin)).toEqual(["holdfastPlugin"]);
});

test("pin: the names that a worker of an application cannot use are those of all workflows", () => {
  expect([...WORKFLOW_NAMES]).toEqual(Object.keys(workflows).sort());
});

test("the output of an agent has the type that the caller names", () => {
  type Triage = { readonly severity: "low" | "high" };
  expectTypeOf(api.executeAgent<Triage>)
    .returns.resolves.toHaveProperty("output")
    .toEqualTypeOf<Triage | undefined>();
  expectTypeOf(api.startAgent<Triage>)
    .returns.resolves.toHaveProperty("steer")
    .toEqualTypeOf<(text: string) => Promise<void>>();
  // @ts-expect-error An agent needs a prompt.
  const incomplete: api.StartAgentOptions = { agent: "triage" };
  expect(incomplete.agent).toBe("triage");
});
