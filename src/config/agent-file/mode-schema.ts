import { z } from "zod";
import {
  AutonomousMode,
  FanOutMode,
  MAX_TEMPLATE_CHARS,
  SupervisorMode,
  WorkMode,
} from "../../schema/mode.ts";
import {
  allowNone,
  buildShape,
  describeKey,
  describeRequiredKey,
  integerFrom,
  withExpected,
} from "./define-field.ts";
import { MODE_LIMIT_FIELDS } from "./resolve-mode.ts";

const AgentName = withExpected(z.string().min(1), "the name of one of [[agent.instances]]");

const ModeStage = z.strictObject({
  name: describeKey(z.string().min(1), "Its name, in the id of its session; the agent's unless said."),
  agent: describeRequiredKey(AgentName, "Who does it."),
  prompt: describeKey(
    z.string().min(1).max(MAX_TEMPLATE_CHARS),
    "`{{input}}` is what the stage before has said, `{{task}}` what was asked; the input alone unless said.",
  ),
  input: describeKey(
    withExpected(
      z.union([z.record(z.string(), z.unknown()), z.string()]),
      "a JSON Schema as a table, as JSON in a text, or file:PATH",
    ),
    "A JSON Schema that the input must fit.",
  ),
});

const types = WorkMode.options.map(({ shape }) => shape.type.value);

/** The section [mode]. Which keys a type has is said in mode.ts. */
export const ModeSection = z.strictObject({
  type: describeRequiredKey(
    z.enum(types),
    "How the agents of this file work together; see docs/work-modes.md.",
  ),
  agent: describeKey(
    AgentName,
    "Who works (autonomous, interactive) or leads (supervisor); the only agent unless said.",
  ),
  agents: describeKey(
    z.array(AgentName),
    "Of a fan-out and a supervisor; all agents of the file unless said.",
  ),
  max_agents: describeKey(
    integerFrom(1, 1000),
    "Of a supervisor: tasks that may be handed out.",
    SupervisorMode.shape.maxAgents.parse(undefined),
  ),
  stages: describeKey(z.array(ModeStage), "Of a pipeline, in order."),
  tasks: describeKey(
    z.array(z.string().min(1)),
    "Of a fan-out: each agent gets each of them, with the task in place of `{{task}}`; the task alone unless said.",
  ),
  concurrency: describeKey(
    integerFrom(1, 100),
    "Of a fan-out: parts at work side by side.",
    FanOutMode.shape.concurrency.parse(undefined),
  ),
  reducer: describeKey(
    z.string().min(1).max(120),
    "Of a fan-out: list, first, longest, vote, or the name of one that the worker has registered.",
    FanOutMode.shape.reducer.parse(undefined),
  ),
  max_rounds: describeKey(allowNone(integerFrom(1)), "Of an autonomous agent.", "none"),
  max_idle_rounds: describeKey(
    integerFrom(1, 1000),
    "Of an autonomous agent: rounds in a row without a word on how the work goes on.",
    AutonomousMode.shape.maxIdleRounds.parse(undefined),
  ),
  idle_timeout_secs: describeKey(
    allowNone(z.number().positive()),
    "Of an interactive agent: how long it waits for a prompt.",
    "none",
  ),
  ...buildShape(MODE_LIMIT_FIELDS),
});
