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
  name: describeKey(
    z.string().min(1),
    "Its name, which is part of its session's id; the agent's name by default.",
  ),
  agent: describeRequiredKey(AgentName, "The agent that runs the stage."),
  prompt: describeKey(
    z.string().min(1).max(MAX_TEMPLATE_CHARS),
    "`{{input}}` is the output of the previous stage, `{{task}}` the original task; the input alone by default.",
  ),
  input: describeKey(
    withExpected(
      z.union([z.record(z.string(), z.unknown()), z.string()]),
      "a JSON Schema as a table, as JSON in a text, or file:PATH",
    ),
    "A JSON Schema that the input must match.",
  ),
});

const types = WorkMode.options.map(({ shape }) => shape.type.value);

/** The section [mode]. `resolve-mode.ts` lists the keys that each type uses. */
export const ModeSection = z.strictObject({
  type: describeRequiredKey(
    z.enum(types),
    "How the agents of this file work together; see docs/work-modes.md.",
  ),
  agent: describeKey(
    AgentName,
    "The agent that works (autonomous, interactive) or leads (supervisor); the only agent of the file by default.",
  ),
  agents: describeKey(
    z.array(AgentName),
    "The agents of a fan-out or below a supervisor; all agents of the file by default.",
  ),
  max_agents: describeKey(
    integerFrom(1, 1000),
    "Supervisor only: the number of tasks that it may delegate.",
    SupervisorMode.shape.maxAgents.parse(undefined),
  ),
  stages: describeKey(z.array(ModeStage), "The stages of a pipeline, in order."),
  tasks: describeKey(
    z.array(z.string().min(1)),
    "Fan-out only: each agent gets each of them, with `{{task}}` replaced by the task; the task alone by default.",
  ),
  concurrency: describeKey(
    integerFrom(1, 100),
    "Fan-out only: the number of parts that run concurrently.",
    FanOutMode.shape.concurrency.parse(undefined),
  ),
  reducer: describeKey(
    z.string().min(1).max(120),
    "Fan-out only: list, first, longest, vote, or the name of a reducer that the worker has registered.",
    FanOutMode.shape.reducer.parse(undefined),
  ),
  max_rounds: describeKey(
    allowNone(integerFrom(1)),
    "Autonomous only: the maximum number of rounds.",
    "none",
  ),
  max_idle_rounds: describeKey(
    integerFrom(1, 1000),
    "Autonomous only: the maximum number of consecutive rounds without a call to finish_work or sleep.",
    AutonomousMode.shape.maxIdleRounds.parse(undefined),
  ),
  idle_timeout_secs: describeKey(
    allowNone(z.number().positive()),
    "Interactive only: how long it waits for a prompt.",
    "none",
  ),
  ...buildShape(MODE_LIMIT_FIELDS),
});
