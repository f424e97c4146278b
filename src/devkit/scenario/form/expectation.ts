import { z } from "zod";

const index = z.number().int().nonnegative();

/** Lines as in docs/scenarios.md; "..." matches any lines, a `*` at the end of a line matches any rest of it. */
const lines = z.array(z.string());

export const Expectation = z.strictObject({
  events: lines.optional(),
  /** Events and hook calls together; hook calls are in brackets. */
  story: lines.optional(),
  /** Only hook calls. */
  hooks: lines.optional(),
  /** The messages to the model, request by request; `null` matches any. */
  sent: z.array(lines.nullable()).optional(),
  /** The number of requests to the vendor. */
  asked: index.optional(),
  /** A part of the last run's outcome. */
  outcome: z.record(z.string(), z.unknown()).optional(),
  /** The result of the last run: the text of its last answer, or the JSON of its output. */
  text: z.string().optional(),
  /** A part of the usage at the end of the last loop. */
  usage: z.record(z.string(), z.number()).optional(),
  /** The ids of the calls whose tool was executed, in call order; once for each execution. */
  executed: z.array(z.string()).optional(),
  /** The executions of tools, one line each: the call's id, the tool, the arguments as JSON. */
  ran: lines.optional(),
  /** The texts in the session's inbox at the end. */
  inbox: z.array(z.string()).optional(),
  /** The messages of rejected arrivals, in order. */
  refused: lines.optional(),
  /** How often a run continued as new. */
  continuedAsNew: index.optional(),
  /** Runs of sub-agents, in call order; `null` matches any. */
  subAgents: z.array(z.lazy(() => SubExpectation).nullable()).optional(),
});
export type Expectation = z.infer<typeof Expectation>;

const SubExpectation: z.ZodType<SubExpectation> = z.strictObject({
  name: z.string().optional(),
  events: lines.optional(),
  sent: z.array(lines.nullable()).optional(),
  asked: index.optional(),
  outcome: z.record(z.string(), z.unknown()).optional(),
  usage: z.record(z.string(), z.number()).optional(),
  subAgents: z.array(z.lazy(() => SubExpectation).nullable()).optional(),
});
export type SubExpectation = {
  readonly name?: string | undefined;
  readonly events?: readonly string[] | undefined;
  readonly sent?: readonly (readonly string[] | null)[] | undefined;
  readonly asked?: number | undefined;
  readonly outcome?: Readonly<Record<string, unknown>> | undefined;
  readonly usage?: Readonly<Record<string, number>> | undefined;
  readonly subAgents?: readonly (SubExpectation | null)[] | undefined;
};
