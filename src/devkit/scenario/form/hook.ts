import { z } from "zod";
import { HOOK_POINTS, type HookPoint } from "../../../schema/hooks.ts";
import { requireExactlyOne } from "./exactly-one.ts";

const Point = z.enum(HOOK_POINTS as readonly [HookPoint, ...HookPoint[]]);

/** What a hook answers once: a word, or an object with one of these. */
export const ScenarioAnswer = z.union(
  [
    z.enum(["yes", "no", "goOn", "hangs"]),
    z
      .strictObject({
        /** No, with this reason. */
        no: z.string().optional(),
        /** The loop ends, with these words. */
        end: z.string().optional(),
        /** Yes, with words for the model. */
        inject: z.string().optional(),
        /** Another turn, with these words. */
        goOn: z.string().optional(),
        /** The hook's code throws an error with this message. */
        throws: z.string().optional(),
      })
      .superRefine((answer, context) =>
        requireExactlyOne(answer, ["no", "end", "inject", "goOn", "throws"], context),
      ),
  ],
  {
    error:
      'must be "yes", "no", "goOn", "hangs", or one of {"no": …}, {"end": …}, {"inject": …}, {"goOn": …}, {"throws": …}, with a text',
  },
);
export type ScenarioAnswer = z.infer<typeof ScenarioAnswer>;

export const ScenarioHook = z.strictObject({
  name: z.string().min(1),
  /** A point, or a list of them. */
  at: z.union([Point, z.array(Point).min(1)], {
    error: `must be a point of a hook or a list of points; the points are ${HOOK_POINTS.join(", ")}`,
  }),
  /** In the order of asking, at whichever of its points; the last one counts for all further times. */
  answers: z.array(ScenarioAnswer).min(1).default(["yes"]),
  timeoutMs: z.number().int().positive().optional(),
  onFailure: z.enum(["stop", "go-on"]).optional(),
});
export type ScenarioHook = z.infer<typeof ScenarioHook>;

export function getPoints({ at }: Pick<ScenarioHook, "at">): readonly HookPoint[] {
  return typeof at === "string" ? [at] : at;
}
