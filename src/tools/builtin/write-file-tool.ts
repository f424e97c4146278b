import { z } from "zod";
import { defineTool, type ExecutableTool } from "../tool.ts";
import type { ToolContext } from "../tool-execution.ts";
import { type FileTarget, openTarget, readTarget, statTarget } from "../workspace/file-target.ts";
import { withPathLock } from "../workspace/path-lock.ts";
import { replaceFile } from "../workspace/replace-file.ts";
import { throwIfCancelled, toToolError } from "../workspace/system-error.ts";
import { openRoot } from "../workspace/workspace-access.ts";

const Parameters = z.object({
  path: z.string().describe("Path of the file, relative to the workspace"),
  content: z.string().describe("The whole content of the file"),
});

/** Creates the tool. A second execution finds its content written and returns the same result as the first. */
export function createWriteFileTool(): ExecutableTool {
  return defineTool({
    name: "write_file",
    label: "Write file",
    description: "Writes a file and replaces any previous content. Creates missing parent directories.",
    inputSchema: Parameters,
    replay: "idempotent",
    touches: ({ path }) => ({ paths: [path] }),
    summarise: ({ path }) => path,
    async execute({ path, content }, context) {
      const bytes = Buffer.from(content, "utf8");
      throwIfCancelled(context.signal);
      const root = await openRoot(context.workspace);
      try {
        throwIfCancelled(context.signal);
        const target = await openTarget(root, path, { create: true });
        try {
          await withPathLock(target.realPath, () => write(target, bytes, context));
        } finally {
          await target.folder.handle.close();
        }
      } catch (error) {
        throw toToolError(error, `Cannot write ${path}`);
      }
      return {
        content: [{ type: "text", text: `Wrote ${bytes.length} bytes to ${path}` }],
        details: { path, bytes: bytes.length },
      };
    },
  });
}

async function write(target: FileTarget, content: Buffer, context: ToolContext): Promise<void> {
  throwIfCancelled(context.signal);
  const stats = await statTarget(target);
  if (stats !== undefined && Number(stats.size) === content.length) {
    throwIfCancelled(context.signal);
    if ((await readTarget(target, content.length)).content.equals(content)) return;
  }
  await replaceFile(target, {
    content,
    replaces: stats,
    onlyIfUnchanged: false,
    key: context.idempotencyKey,
    checkpoint: () => throwIfCancelled(context.signal),
  });
}
