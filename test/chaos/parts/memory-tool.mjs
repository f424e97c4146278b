// A tool that takes more memory than its worker has, the first time that it runs in a workspace.
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { defineTool } from "../../../dist/tools/tool.js";

const take = () => {
  const kept = [];
  for (;;) kept.push(Array.from({ length: 100_000 }, () => ({})));
};

export default defineTool({
  name: "hungry",
  description: "Takes all memory, once",
  inputSchema: z.object({}),
  // It may run again: only then can the run go on.
  replay: "idempotent",
  execute: async (_, { workspace }) => {
    const mark = join(workspace, "hungry");
    const wasHere = existsSync(mark);
    appendFileSync(mark, "start\n");
    if (!wasHere) take();
    writeFileSync(join(workspace, "fed"), "");
    return "fed";
  },
});
