import { z } from "zod";
import { AgentDefinition } from "../../schema/definition.ts";
import { buildDefinition } from "./definition.ts";
import { Arrival } from "./form/arrival.ts";
import { Expectation } from "./form/expectation.ts";
import { ScenarioFilter } from "./form/filter.ts";
import { ScenarioHook } from "./form/hook.ts";
import { findProblems } from "./form/impossible.ts";
import { formatIssue } from "./form/issue-text.ts";
import { ScenarioReply } from "./form/reply.ts";
import { ScenarioSubAgent } from "./form/sub-agent.ts";
import { ScenarioTool } from "./form/tool.ts";
import { ScenarioError } from "./scenario-error.ts";

// The schema of a scenario: the model's replies, the tools' results, and the arrivals. See docs/scenarios.md.

export type { Arrival, When } from "./form/arrival.ts";
export type { Expectation } from "./form/expectation.ts";
export type { ScenarioFilter } from "./form/filter.ts";
export type { ScenarioHook } from "./form/hook.ts";
export type { ScenarioReply } from "./form/reply.ts";
export type { ScenarioSubAgent } from "./form/sub-agent.ts";
export type { Deed, ScenarioTool } from "./form/tool.ts";

const milliseconds = z.number().int().nonnegative();

export const Scenario = z
  .strictObject({
    name: z.string().min(1),
    /** The ids of the requirements that the scenario proves. */
    proves: z.array(z.string().regex(/^[A-Z]+-\d+[a-z]?$/, "an id such as LOOP-01 or PHI-13c")).default([]),
    /** Fields of an agent definition, all optional. `tools` are the scenario's own by default. */
    agent: z.record(z.string(), z.unknown()).default({}),
    tools: z.array(ScenarioTool).default([]),
    /** All filters are called in this order, unless `agent.inputFilters` lists others. */
    filters: z.array(ScenarioFilter).default([]),
    /** Sub-agents to which the agent may delegate tasks. */
    subAgents: z.array(ScenarioSubAgent).default([]),
    /** The hooks, called in this order at each point; `agent.hooks` is derived from them. */
    hooks: z.array(ScenarioHook).default([]),
    /** One reply for each request to the vendor, in order; after the last one, `done`. */
    model: z.array(ScenarioReply).default([]),
    /** Without a prompt, the run only waits, or delivers the messages that arrive with its start. */
    prompt: z.string().min(1).optional(),
    promptId: z.string().min(1).optional(),
    mode: z.enum(["run", "interactive"]).default("run"),
    /** How long an interactive run waits. By default, a run is stopped when no arrivals remain. */
    idleTimeoutMs: milliseconds.optional(),
    arrives: z.array(Arrival).default([]),
    expect: Expectation.optional(),
  })
  .superRefine((scenario, context) => {
    const input = buildDefinition(scenario, "http://127.0.0.1:1");
    for (const issue of AgentDefinition.safeParse(input).error?.issues ?? []) {
      const message = formatIssue(AgentDefinition, issue, input);
      context.addIssue({ code: "custom", path: ["agent", ...issue.path], message });
    }
    for (const { path, message } of findProblems(scenario)) {
      context.addIssue({ code: "custom", path: [...path], message });
    }
  });
export type Scenario = z.infer<typeof Scenario>;
export type ScenarioInput = z.input<typeof Scenario>;

/** Reads one scenario or a list of them. Throws a `ScenarioError` with every invalid field. */
export function readScenarios(value: unknown): readonly Scenario[] {
  const list = Array.isArray(value) ? value : [value];
  const problems: string[] = [];
  const scenarios = list.map((item: unknown, at) => {
    const parsed = Scenario.safeParse(item);
    for (const issue of parsed.error?.issues ?? [])
      problems.push(formatIssueProblem(issue, item, at, list.length));
    return parsed.data;
  });
  const names = scenarios.map((scenario) => scenario?.name);
  for (const name of new Set(names.filter((one, at) => one !== undefined && names.indexOf(one) !== at))) {
    problems.push(`name: two scenarios have the name "${name}"`);
  }
  if (problems.length > 0) throw new ScenarioError(problems);
  return scenarios as readonly Scenario[];
}

function formatIssueProblem(issue: z.core.$ZodIssue, item: unknown, at: number, count: number): string {
  const name = (item as { name?: unknown } | null)?.name;
  const which = typeof name === "string" ? `"${name}": ` : count > 1 ? `scenario ${at}: ` : "";
  const field = issue.path.join(".");
  return `${which}${field === "" ? "" : `${field}: `}${formatIssue(Scenario, issue, item)}`;
}
