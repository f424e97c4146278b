import { z } from "zod";
import { LIMIT_NAMES } from "../../../core/budget/limits.ts";
import { requireExactlyOne } from "./exactly-one.ts";

const index = z.number().int().nonnegative();

/** A moment: one of `during`, `after`, `with`. `nth` counts from 0 over the whole scenario. */
export const When = z
  .strictObject({
    /**
     * `open`: before a loop is open. `model`: while a request is with the vendor. `backoff`: between two attempts.
     * `tool`: while the call runs. `close`: while the loop is being closed. `approval`: nothing runs,
     * and at least one call waits for the user. `wait`: an interactive run waits for a prompt.
     */
    during: z.enum(["open", "model", "backoff", "tool", "approval", "close", "wait"]).optional(),
    /** The tool's name or the call's id; `nth` counts the matching calls. */
    call: z.string().optional(),
    /** After the run ended. */
    after: z.literal("end").optional(),
    /** Together with the first run's start. */
    with: z.literal("start").optional(),
    nth: index.default(0),
  })
  .superRefine((when, context) => {
    requireExactlyOne(when, ["during", "after", "with"], context);
    if ((when.during === "tool") !== (when.call !== undefined)) {
      context.addIssue({
        code: "custom",
        path: ["call"],
        message: 'is required with "during": "tool", and only allowed there',
      });
    }
  });
export type When = z.infer<typeof When>;

const queue = z.enum(["steering", "follow-up"]);
/** The call's id or its tool's name. */
const waiting = z.string().min(1).optional();
/** The run itself validates the values. */
const limit = z.number().nullable().optional();
const limits = Object.fromEntries(LIMIT_NAMES.map((name) => [name, limit]));
const words = { text: z.string().min(1), id: z.string().min(1).optional() };

/** An action from outside, and its moment. Arrivals of one moment arrive in the order of the list. */
export const Arrival = z.discriminatedUnion("do", [
  z.strictObject({ when: When, do: z.literal("steer"), ...words }),
  z.strictObject({ when: When, do: z.literal("followUp"), ...words }),
  /** Rejected unless the run waits. */
  z.strictObject({ when: When, do: z.literal("prompt"), ...words }),
  z.strictObject({ when: When, do: z.literal("stop"), reason: z.string().optional() }),
  /** Temporal's own cancellation. */
  z.strictObject({ when: When, do: z.literal("cancel") }),
  z.strictObject({
    when: When,
    do: z.literal("queueMode"),
    queue,
    mode: z.enum(["one-at-a-time", "all"]),
  }),
  z.strictObject({
    when: When,
    do: z.literal("clearQueues"),
    queue: z.enum(["steering", "follow-up", "all"]),
  }),
  /** The user approves a waiting call; `call` is optional while only one waits. */
  z.strictObject({
    when: When,
    do: z.literal("approve"),
    call: waiting,
    /** The arguments that replace the model's. */
    arguments: z.record(z.string(), z.unknown()).optional(),
    /** Later calls of this kind need no approval. */
    always: z.literal(true).optional(),
    by: z.string().optional(),
  }),
  z.strictObject({
    when: When,
    do: z.literal("refuse"),
    call: waiting,
    reason: z.string().optional(),
    by: z.string().optional(),
  }),
  /** The context is compacted before the next model call. */
  z.strictObject({ when: When, do: z.literal("compact"), focus: z.string().min(1).optional() }),
  z.strictObject({ when: When, do: z.literal("raiseLimits"), limits: z.strictObject(limits) }),
  /** The worker dies, during a request to the vendor or a call. */
  z.strictObject({ when: When, do: z.literal("crash") }),
  /** The run continues as new when the turn ends. */
  z.strictObject({ when: When, do: z.literal("continueAsNew") }),
  /** Another run of the same session, after the end of the previous one. */
  z.strictObject({ when: When, do: z.literal("run"), ...words }),
  /** Another run without a prompt, which continues the conversation. */
  z.strictObject({
    when: When,
    do: z.literal("continue"),
    kind: z.enum(["default", "rerun", "branch"]).default("default"),
    /** The run continues after this many messages of a branch; by default after all of them. */
    at: index.optional(),
    /** Selects the branch of this loop; by default the newest branch. */
    loop: index.optional(),
    limits: z.strictObject(limits).optional(),
  }),
]);
export type Arrival = z.infer<typeof Arrival>;
