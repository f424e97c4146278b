import { test } from "vitest";
import { writeFileSync } from "node:fs";
import { measure } from "./output-recovery/measure.ts";
import { loadFurtherMutators } from "./output-recovery/corpus.ts";
import { recoverOutput } from "../../src/conversation/output-recovery/recover-output.ts";
import { matchesSchema } from "../../src/platform/json-schema/schema-validator.ts";
test("show", async () => {
  const t = Date.now();
  const { figures, verdicts } = await measure(1, 3, await loadFurtherMutators());
  console.log(JSON.stringify(figures, null, 1), Date.now() - t);
  const by: Record<string, string[]> = {};
  let detail = "";
  for (const [s, v] of verdicts) {
    if (v.holdfast === "recovered" || (s.loss === "essential" && v.holdfast === "refused")) continue;
    (by[s.fault] ??= []).push(v.holdfast);
    const r = recoverOutput(s.text, s.schema, matchesSchema);
    detail += `#### ${s.fault} ${v.holdfast} ${s.type}\n${s.text}\n---> ${JSON.stringify(r)}\n     ${JSON.stringify(s.original)}\n`;
  }
  console.log(Object.entries(by).map(([k, v]) => `${k}: ${v.filter(x=>x==="wrong").length} wrong ${v.filter(x=>x==="refused").length} refused`).join("\n"));
  writeFileSync("/tmp/detail.txt", detail);
});
