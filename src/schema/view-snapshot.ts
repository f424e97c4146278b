import { z } from "zod";

// What a loop has left of its view, in its form in a file. The type is `ViewSnapshot` of src/core/view/view.ts.

const count = z.number().int().nonnegative();
const tokens = z.number().nonnegative();

const MemoRef = z.looseObject({ position: count, call: count, tokens, branch: z.string().optional() });

const Span = z
  .looseObject({
    from: count,
    to: count,
    turns: count,
    tokens,
    maxLines: count.optional(),
    replacement: z.looseObject({ position: count, section: count, branch: z.string().optional() }).optional(),
    isPruned: z.literal(true).optional(),
    memos: z.array(MemoRef).optional(),
  })
  .refine(({ from, to }) => from <= to, { message: "must not end before it begins" });

const category = z.enum(["failure", "tangent"]);

export const ViewSnapshot: z.ZodType<unknown> = z.looseObject({
  spans: z.array(Span).max(10_000),
  prunableFrom: count.optional(),
  tags: z.array(z.looseObject({ category, position: count, createdAtTurn: z.number() })).optional(),
  fadedBefore: z.partialRecord(category, count).optional(),
});
