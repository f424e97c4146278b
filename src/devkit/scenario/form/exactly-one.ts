import type { z } from "zod";

export function requireExactlyOne(value: object, names: readonly string[], context: z.RefinementCtx): void {
  const present = names.filter((name) => (value as Record<string, unknown>)[name] !== undefined);
  if (present.length === 1) return;
  const found = present.length === 0 ? "found none" : `found ${present.join(" and ")}`;
  context.addIssue({ code: "custom", message: `give exactly one of ${names.join(", ")}; ${found}` });
}
