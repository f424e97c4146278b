// Tools of an application, loaded by worker processes that are to be killed. Each execution adds a line to a
// file, then waits until the file `go` is there.
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { defineTool } from "../../../dist/tools/tool.js";

function createWaitingTool(name, replay) {
  return defineTool({
    name,
    description: `Waits; ${replay}`,
    inputSchema: z.object({ label: z.string() }),
    replay,
    execute: async ({ label }, { workspace, signal, onUpdate: update, idempotencyKey }) => {
      appendFileSync(join(workspace, `${label}.runs`), `${process.pid} ${idempotencyKey}\n`);
      update(`printed by ${label}\n`);
      while (!existsSync(join(workspace, `${label}.go`))) {
        signal.throwIfAborted();
        await sleep(20);
      }
      return `finished ${label}`;
    },
  });
}

/** Adds its line and is done: for many calls at a time. */
const quickUnsafe = defineTool({
  name: "quick_unsafe",
  description: "Adds a line; unsafe",
  inputSchema: z.object({ label: z.string() }),
  replay: "unsafe",
  execute: async ({ label }, { workspace, idempotencyKey }) => {
    appendFileSync(join(workspace, `${label}.runs`), `${process.pid} ${idempotencyKey}\n`);
    return `finished ${label}`;
  },
});

export default [
  quickUnsafe,
  createWaitingTool("wait_unsafe", "unsafe"),
  createWaitingTool("wait_idempotent", "idempotent"),
  createWaitingTool("wait_pure", "pure"),
];
