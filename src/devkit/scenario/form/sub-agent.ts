import { z } from "zod";
import { SubAgentLimits } from "../../../schema/definition.ts";
import { Arrival } from "./arrival.ts";
import { ScenarioReply } from "./reply.ts";

/** An agent that the scenario's own calls like a tool. Its tools are the scenario's; it has those that it names. */
export const ScenarioSubAgent = z.strictObject({
  /** What its caller's model calls it. */
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  limits: SubAgentLimits.optional(),
  /** Fields of an agent definition. */
  agent: z.record(z.string(), z.unknown()).default({}),
  /** What each request of it gets, in order, whichever of its calls asks. Calls of it are played one after the other. */
  model: z.array(ScenarioReply).default([]),
  /** During `model` and `tool` only. */
  arrives: z
    .array(Arrival)
    .refine((all) => all.every(({ when }) => when.during === "model" || when.during === "tool"), {
      error: 'what comes to a sub-agent comes {"during": "model"} or {"during": "tool"}',
    })
    .default([]),
  get subAgents(): z.ZodDefault<z.ZodArray<z.ZodType<ScenarioSubAgent, ScenarioSubAgentInput>>> {
    return z.array(ScenarioSubAgent).default([]) as never;
  },
});

export type ScenarioSubAgent = {
  readonly name: string;
  readonly limits?: z.output<typeof SubAgentLimits> | undefined;
  readonly agent: Record<string, unknown>;
  readonly model: ScenarioReply[];
  readonly arrives: Arrival[];
  readonly subAgents: ScenarioSubAgent[];
};

export type ScenarioSubAgentInput = {
  readonly name: string;
  readonly limits?: z.input<typeof SubAgentLimits> | undefined;
  readonly agent?: Record<string, unknown> | undefined;
  readonly model?: z.input<typeof ScenarioReply>[] | undefined;
  readonly arrives?: z.input<typeof Arrival>[] | undefined;
  readonly subAgents?: ScenarioSubAgentInput[] | undefined;
};
