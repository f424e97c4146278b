import type { z } from "zod";

export function exactlyOne(value: object, names: readonly string[], context: z.RefinementCtx): void {
  const given = names.filter((name) => (value as Record<string, unknown>)[name] !== undefined);
  if (given.length === 1) return;
  const found = given.length === 0 ? "none of them is there" : `found ${given.join(" and ")}`;
  context.addIssue({ code: "custom", message: `give exactly one of ${names.join(", ")}; ${found}` });
}
