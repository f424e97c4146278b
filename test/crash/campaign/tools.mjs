// Tools of the campaign's agents: each start and each end is a line in the workspace, as the bash command's are.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { defineTool } from "../../../dist/tools/tool.js";
import { EFFECTS, WORK_MS } from "./effects.mjs";

function createEffectTool(name, replay, quick) {
  return defineTool({
    name,
    description: `Leaves a line; ${replay}`,
    inputSchema: z.object({ label: z.string() }),
    replay,
    quick,
    execute: async ({ label }, { workspace, signal, onUpdate: update, idempotencyKey }) => {
      const line = (what) => appendFileSync(join(workspace, EFFECTS), `${idempotencyKey} ${label} ${what}\n`);
      line("start");
      update(`printed by ${label}\n`);
      if (!quick) await sleep(WORK_MS, undefined, { signal });
      line("end");
      return `did ${label}`;
    },
  });
}

export default [
  createEffectTool("effect_unsafe", "unsafe", false),
  createEffectTool("effect_idempotent", "idempotent", false),
  createEffectTool("effect_pure", "pure", false),
  createEffectTool("effect_quick", "pure", true),
];
