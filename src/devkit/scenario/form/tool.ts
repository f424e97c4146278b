import { z } from "zod";
import { ReplayClass } from "../../../schema/tool.ts";
import { requireExactlyOne } from "./exactly-one.ts";

const milliseconds = z.number().int().nonnegative();

/** `?` behind a type: the argument may be left out. */
export const ParameterType = z.enum(["string", "number", "boolean", "string?", "number?", "boolean?"]);

/** What becomes of one call of a tool: one of `gives`, `fails`, `throws`, `hangs`. */
export const Deed = z
  .strictObject({
    /** The result's text. */
    gives: z.string().optional(),
    /** The tool says that it failed, in these words. */
    fails: z.string().optional(),
    /** The tool's code throws an error with this message. */
    throws: z.string().optional(),
    /** It never ends by itself: its time-out or a stop ends it. */
    hangs: z.literal(true).optional(),
    /** Pieces of output that it shows before it ends. */
    shows: z.array(z.string()).optional(),
    /** How long it takes, by the run's clock. */
    takesMs: milliseconds.optional(),
    /** Ends behind this call of the same unit, by id; calls end in call order otherwise, quick ones first. */
    after: z.string().optional(),
  })
  .superRefine((deed, context) => requireExactlyOne(deed, ["gives", "fails", "throws", "hangs"], context));
export type Deed = z.infer<typeof Deed>;

export const ScenarioTool = z.strictObject({
  /** What the model calls it. */
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  /** Its arguments by name; calls that do not fit are answered as the real stack answers them. */
  parameters: z.record(z.string(), ParameterType).default({}),
  replay: ReplayClass.default("unsafe"),
  /** Runs as a local activity; only for a `pure` tool. Nothing can arrive while it runs. */
  quick: z.boolean().default(false),
  timeoutMs: milliseconds.optional(),
  /** A person is asked before each call, unless a rule allows it. */
  confirm: z.boolean().default(false),
  /** Names of the arguments that rules of a permission policy are about. */
  touches: z.strictObject({ path: z.string().optional(), command: z.string().optional() }).optional(),
  /** One for each time that this tool is run, in call order; the last one counts for all further times. */
  does: z
    .array(Deed)
    .min(1)
    .default([{ gives: "ok" }]),
});
export type ScenarioTool = z.infer<typeof ScenarioTool>;
