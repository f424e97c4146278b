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

// The form of a scenario: what a model says, what tools give, what arrives when. Explained in docs/scenarios.md.

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
    /** Ids of the requirements that it proves. */
    proves: z.array(z.string().regex(/^[A-Z]+-\d+[a-z]?$/, "an id such as LOOP-01 or PHI-13c")).default([]),
    /** Fields of an agent definition; all may be left out. `tools` are the scenario's own unless said. */
    agent: z.record(z.string(), z.unknown()).default({}),
    tools: z.array(ScenarioTool).default([]),
    /** All of them are asked, in this order, unless `agent.inputFilters` names others. */
    filters: z.array(ScenarioFilter).default([]),
    /** Agents that the agent may hand tasks to. */
    subAgents: z.array(ScenarioSubAgent).default([]),
    /** Asked in this order at each point; `agent.hooks` is made of them. */
    hooks: z.array(ScenarioHook).default([]),
    /** One for each request to the vendor, in order; `done` when they are used up. */
    model: z.array(ScenarioReply).default([]),
    /** Absent: a run that only waits, or delivers what came with it. */
    prompt: z.string().min(1).optional(),
    promptId: z.string().min(1).optional(),
    mode: z.enum(["run", "interactive"]).default("run"),
    /** How long an interactive run waits. Without it, one that nothing arrives for any more is stopped. */
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

/** Reads one scenario or a list of them. Throws a `ScenarioError` that names every field at fault. */
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
    problems.push(`name: two scenarios are called "${name}"`);
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
