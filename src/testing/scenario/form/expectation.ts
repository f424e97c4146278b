import { z } from "zod";

const index = z.number().int().nonnegative();

/** Lines as docs/scenarios.md shows them; "..." stands for any lines, a `*` at a line's end for any rest of it. */
const lines = z.array(z.string());

export const Expectation = z.strictObject({
  events: lines.optional(),
  /** What the model was sent, request by request; `null` where it does not matter. */
  sent: z.array(lines.nullable()).optional(),
  /** How often the vendor was asked. */
  asked: index.optional(),
  /** A part of the last run's outcome. */
  outcome: z.record(z.string(), z.unknown()).optional(),
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
});
export type Expectation = z.infer<typeof Expectation>;
