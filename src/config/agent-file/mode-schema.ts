import { z } from "zod";
import {
  AutonomousMode,
  FanOutMode,
  MAX_TEMPLATE_CHARS,
  SupervisorMode,
  WorkMode,
} from "../../schema/mode.ts";
import { expecting, must, orNone, said, shapeOf, wholeFrom } from "./field.ts";
import { MODE_LIMIT_FIELDS } from "./mode.ts";

const AgentName = expecting(z.string().min(1), "the name of one of [[agent.instances]]");

const ModeStage = z.strictObject({
  name: said(z.string().min(1), "Its name, in the id of its session; the agent's unless said."),
  agent: must(AgentName, "Who does it."),
  prompt: said(
    z.string().min(1).max(MAX_TEMPLATE_CHARS),
    "`{{input}}` is what the stage before has said, `{{task}}` what was asked; the input alone unless said.",
  ),
  input: said(
    expecting(
      z.union([z.record(z.string(), z.unknown()), z.string()]),
      "a JSON Schema as a table, as JSON in a text, or file:PATH",
    ),
    "A JSON Schema that the input must fit.",
  ),
});

const types = WorkMode.options.map(({ shape }) => shape.type.value);

/** The section [mode]. Which keys a type has is said in mode.ts. */
export const ModeSection = z.strictObject({
  type: must(z.enum(types), "How the agents of this file work together; see docs/work-modes.md."),
  agent: said(
    AgentName,
    "Who works (autonomous, interactive) or leads (supervisor); the only agent unless said.",
  ),
  agents: said(z.array(AgentName), "Of a fan-out and a supervisor; all agents of the file unless said."),
  max_agents: said(
    wholeFrom(1, 1000),
    "Of a supervisor: tasks that may be handed out.",
    SupervisorMode.shape.maxAgents.parse(undefined),
  ),
  stages: said(z.array(ModeStage), "Of a pipeline, in order."),
  tasks: said(
    z.array(z.string().min(1)),
    "Of a fan-out: each agent gets each of them, with the task in place of `{{task}}`; the task alone unless said.",
  ),
  concurrency: said(
    wholeFrom(1, 100),
    "Of a fan-out: parts at work side by side.",
    FanOutMode.shape.concurrency.parse(undefined),
  ),
  reducer: said(
    z.string().min(1).max(120),
    "Of a fan-out: list, first, longest, vote, or the name of one that the worker has registered.",
    FanOutMode.shape.reducer.parse(undefined),
  ),
  max_rounds: said(orNone(wholeFrom(1)), "Of an autonomous agent.", "none"),
  max_idle_rounds: said(
    wholeFrom(1, 1000),
    "Of an autonomous agent: rounds in a row without a word on how the work goes on.",
    AutonomousMode.shape.maxIdleRounds.parse(undefined),
  ),
  idle_timeout_secs: said(
    orNone(z.number().positive()),
    "Of an interactive agent: how long it waits for a prompt.",
    "none",
  ),
  ...shapeOf(MODE_LIMIT_FIELDS),
});
