import { z } from "zod";

const index = z.number().int().nonnegative();

/** Lines as docs/scenarios.md shows them; "..." stands for any lines, a `*` at a line's end for any rest of it. */
const lines = z.array(z.string());

export const Expectation = z.strictObject({
  events: lines.optional(),
  /** Events and hook calls together; a hook call stands in brackets. */
  story: lines.optional(),
  /** Hook calls alone. */
  hooks: lines.optional(),
  /** What the model was sent, request by request; `null` where it does not matter. */
  sent: z.array(lines.nullable()).optional(),
  /** How often the vendor was asked. */
  asked: index.optional(),
  /** A part of the last run's outcome. */
  outcome: z.record(z.string(), z.unknown()).optional(),
  /** What the last run gave back: the text of its last answer, or the JSON of its output. */
  text: z.string().optional(),
  /** A part of the usage that the last loop ended with. */
  usage: z.record(z.string(), z.number()).optional(),
  /** Ids of the calls whose tool was run, in call order; once for each time. */
  executed: z.array(z.string()).optional(),
  /** What tools were run with, a line each: the call's id, the tool, the arguments as JSON. */
  ran: lines.optional(),
  /** Texts in the session's inbox at the end. */
  inbox: z.array(z.string()).optional(),
  /** What refused arrivals were told, in order. */
  refused: lines.optional(),
  /** How often a run continued as new. */
  continuedAsNew: index.optional(),
  /** Runs of sub-agents, in the order in which they were called; `null` where one does not matter. */
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
