import { z } from "zod";
import { ReplayClass } from "../../../schema/tool.ts";
import { requireExactlyOne } from "./exactly-one.ts";

const milliseconds = z.number().int().nonnegative();

/** `?` after a type: the argument is optional. */
export const ParameterType = z.enum(["string", "number", "boolean", "string?", "number?", "boolean?"]);

/** The effect of one call of a tool: one of `gives`, `fails`, `throws`, `hangs`. */
export const Deed = z
  .strictObject({
    /** The result's text. */
    gives: z.string().optional(),
    /** Beside `gives`: the call ends the loop. */
    endsLoop: z.strictObject({ type: z.enum(["paused", "handoff"]), reason: z.string() }).optional(),
    /** The tool reports a failure with this text. */
    fails: z.string().optional(),
    /** The tool's code throws an error with this message. */
    throws: z.string().optional(),
    /** The call never ends by itself: its timeout or a stop ends it. */
    hangs: z.literal(true).optional(),
    /** Chunks of output that the tool streams before it ends. */
    shows: z.array(z.string()).optional(),
    /** The duration by the run's clock. */
    takesMs: milliseconds.optional(),
    /** The id of a call of the same unit after which this one ends; by default calls end in call order, quick ones first. */
    after: z.string().optional(),
  })
  .superRefine((deed, context) => requireExactlyOne(deed, ["gives", "fails", "throws", "hangs"], context));
export type Deed = z.infer<typeof Deed>;

export const ScenarioTool = z.strictObject({
  /** The tool's name for the model. */
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  /** The parameters by name; calls that do not match are answered as on the real stack. */
  parameters: z.record(z.string(), ParameterType).default({}),
  replay: ReplayClass.default("unsafe"),
  /** The tool runs as a local activity; only for a `pure` tool. Nothing can arrive while it runs. */
  quick: z.boolean().default(false),
  timeoutMs: milliseconds.optional(),
  /** Each call needs the user's approval, unless a rule allows it. */
  confirm: z.boolean().default(false),
  /** The names of the arguments to which rules of a permission policy apply. */
  touches: z.strictObject({ path: z.string().optional(), command: z.string().optional() }).optional(),
  /** One for each execution of the tool, in call order; the last one applies to all further executions. */
  does: z
    .array(Deed)
    .min(1)
    .default([{ gives: "ok" }]),
});
export type ScenarioTool = z.infer<typeof ScenarioTool>;
