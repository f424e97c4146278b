import { z } from "zod";
import { SubAgentLimits } from "../../../schema/limits.ts";
import { Arrival } from "./arrival.ts";
import { ScenarioReply } from "./reply.ts";

/** A sub-agent that the scenario's agent calls like a tool. It can use the scenario's tools that it lists. */
export const ScenarioSubAgent = z.strictObject({
  /** The sub-agent's name for its caller's model. */
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  limits: SubAgentLimits.optional(),
  acceptsMaxTurns: z.boolean().optional(),
  /** Fields of an agent definition. */
  agent: z.record(z.string(), z.unknown()).default({}),
  /** The replies to the sub-agent's requests, in order, across all of its calls. Calls of it are played one after the other. */
  model: z.array(ScenarioReply).default([]),
  /** During `model` and `tool` only. */
  arrives: z
    .array(Arrival)
    .refine((all) => all.every(({ when }) => when.during === "model" || when.during === "tool"), {
      error: 'arrivals of a sub-agent must be {"during": "model"} or {"during": "tool"}',
    })
    .default([]),
  get subAgents(): z.ZodDefault<z.ZodArray<z.ZodType<ScenarioSubAgent, ScenarioSubAgentInput>>> {
    return z.array(ScenarioSubAgent).default([]) as never;
  },
});

export type ScenarioSubAgent = {
  readonly name: string;
  readonly limits?: z.output<typeof SubAgentLimits> | undefined;
  readonly acceptsMaxTurns?: boolean | undefined;
  readonly agent: Record<string, unknown>;
  readonly model: ScenarioReply[];
  readonly arrives: Arrival[];
  readonly subAgents: ScenarioSubAgent[];
};

export type ScenarioSubAgentInput = {
  readonly name: string;
  readonly limits?: z.input<typeof SubAgentLimits> | undefined;
  readonly acceptsMaxTurns?: boolean | undefined;
  readonly agent?: Record<string, unknown> | undefined;
  readonly model?: z.input<typeof ScenarioReply>[] | undefined;
  readonly arrives?: z.input<typeof Arrival>[] | undefined;
  readonly subAgents?: ScenarioSubAgentInput[] | undefined;
};
