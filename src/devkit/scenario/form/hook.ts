import { z } from "zod";
import { HOOK_POINTS, type HookPoint } from "../../../schema/hooks.ts";
import { requireExactlyOne } from "./exactly-one.ts";

const Point = z.enum(HOOK_POINTS as readonly [HookPoint, ...HookPoint[]]);

/** One answer of a hook: a keyword, or an object with one of these fields. */
export const ScenarioAnswer = z.union(
  [
    z.enum(["yes", "no", "goOn", "hangs"]),
    z
      .strictObject({
        /** Denies, with this reason. */
        no: z.string().optional(),
        /** Ends the loop, with this text. */
        end: z.string().optional(),
        /** Allows, with a text for the model. */
        inject: z.string().optional(),
        /** Allows, with this text for the model, whose answer must have no calls. */
        forceText: z.string().optional(),
        /** Continues with another turn, with this text. */
        goOn: z.string().optional(),
        /** The hook's code throws an error with this message. */
        throws: z.string().optional(),
      })
      .superRefine((answer, context) =>
        requireExactlyOne(answer, ["no", "end", "inject", "forceText", "goOn", "throws"], context),
      ),
  ],
  {
    error:
      'must be "yes", "no", "goOn", "hangs", or one of {"no": …}, {"end": …}, {"inject": …}, {"forceText": …}, {"goOn": …}, {"throws": …}, with a text',
  },
);
export type ScenarioAnswer = z.infer<typeof ScenarioAnswer>;

export const ScenarioHook = z.strictObject({
  name: z.string().min(1),
  /** A hook point, or a list of them. */
  at: z.union([Point, z.array(Point).min(1)], {
    error: `must be a hook point or a list of hook points; the hook points are ${HOOK_POINTS.join(", ")}`,
  }),
  /** The answers in the order of the hook's calls, at any of its points; the last one applies to all further calls. */
  answers: z.array(ScenarioAnswer).min(1).default(["yes"]),
  timeoutMs: z.number().int().positive().optional(),
  onFailure: z.enum(["stop", "go-on"]).optional(),
});
export type ScenarioHook = z.infer<typeof ScenarioHook>;

export function getPoints({ at }: Pick<ScenarioHook, "at">): readonly HookPoint[] {
  return typeof at === "string" ? [at] : at;
}
