import { createHash } from "node:crypto";
import { z } from "zod";
import { defineTool, type ExecutableTool } from "../tool.ts";
import { type ToolContext, ToolError } from "../tool-execution.ts";
import { type FileTarget, openTarget, readTarget, statTarget } from "../workspace/file-target.ts";
import { withPathLock } from "../workspace/path-lock.ts";
import { replaceFile } from "../workspace/replace-file.ts";
import { PathError, throwIfCancelled, toToolError } from "../workspace/system-error.ts";
import { openRoot, type WorkspaceRoot } from "../workspace/workspace-access.ts";
import { countLines, findSimilar, locateText, replaceText } from "./edit-text.ts";

/** An edit loads the whole file into memory. */
const MAX_EDIT_BYTES = 32 * 1024 * 1024;

const Parameters = z.object({
  path: z.string().describe("Path of the file, relative to the workspace"),
  old_text: z
    .string()
    .min(1, "must not be empty; use write_file to create a file")
    .describe("The text to replace, exactly as it is in the file, with enough context to occur only once"),
  new_text: z.string().describe("The replacement text"),
});

type EditFileRequest = z.infer<typeof Parameters>;

/** Stored before the file changes, so that a second execution can tell what the first one did. */
const EditMemo = z.object({ before: z.string(), after: z.string() });
type EditMemo = z.infer<typeof EditMemo>;

export function createEditFileTool(): ExecutableTool {
  return defineTool({
    name: "edit_file",
    label: "Edit file",
    description:
      "Replaces one piece of text in a file. old_text must match exactly, including whitespace and indentation, " +
      "and occur only once.",
    inputSchema: Parameters,
    replay: "idempotent",
    touches: ({ path }) => ({ paths: [path] }),
    summarise: ({ path }) => path,
    async execute(request, context) {
      const { path, old_text, new_text } = request;
      throwIfCancelled(context.signal);
      const target = await openExisting(await openRoot(context.workspace), path);
      let hashes: EditMemo;
      try {
        hashes = await withPathLock(target.realPath, () => edit(target, request, context));
      } catch (error) {
        throw toToolError(error, `Cannot edit ${path}`);
      } finally {
        await target.folder.handle.close();
      }
      const [oldLines, newLines] = [countLines(old_text), countLines(new_text)];
      const text = `Replaced ${oldLines} line(s) with ${newLines} line(s) in ${path}`;
      return {
        content: [{ type: "text", text }],
        details: {
          path,
          old_lines: oldLines,
          new_lines: newLines,
          sha256_before: hashes.before,
          sha256_after: hashes.after,
        },
      };
    },
  });
}

async function openExisting(root: WorkspaceRoot, path: string): Promise<FileTarget> {
  try {
    return await openTarget(root, path);
  } catch (error) {
    throw error instanceof ToolError ? error : createUnreadableError(path, error);
  }
}

async function edit(target: FileTarget, request: EditFileRequest, context: ToolContext): Promise<EditMemo> {
  const checkpoint = () => throwIfCancelled(context.signal);
  checkpoint();
  const { content, stats } = await read(target, request.path);
  const current = hashContent(content);
  checkpoint();
  const storedMemo = await context.memo?.get();
  const memo = storedMemo === undefined ? undefined : EditMemo.parse(JSON.parse(storedMemo));
  if (memo?.after === current) return memo;
  if (memo !== undefined && memo.before !== current) {
    throw new ToolError(
      "failed",
      `${request.path} was changed by something else since this edit was first attempted. ` +
        "Use read_file to check whether it contains the edit.",
    );
  }

  const edited = apply(content, request);
  const hashes = { before: current, after: hashContent(edited) };
  checkpoint();
  if (memo === undefined) await context.memo?.set(JSON.stringify(hashes));
  await replaceFile(target, {
    content: edited,
    replaces: stats,
    onlyIfUnchanged: true,
    key: context.idempotencyKey,
    checkpoint,
  });
  return hashes;
}

async function read(target: FileTarget, path: string): ReturnType<typeof readTarget> {
  const stats = await statTarget(target).catch((error: unknown) => {
    throw createUnreadableError(path, error);
  });
  if (stats === undefined) throw createUnreadableError(path, new PathError("the file does not exist"));
  if (stats.size > MAX_EDIT_BYTES) throw new PathError(`it is larger than ${MAX_EDIT_BYTES} bytes`);
  return readTarget(target, MAX_EDIT_BYTES);
}

/** Replaces bytes: the rest of the file stays unchanged, whatever its encoding and line ends. */
function apply(content: Buffer, { path, old_text, new_text }: EditFileRequest): Buffer {
  const match = locateText(content, old_text, new_text);
  if (match.count === 1) return replaceText(content, match);
  if (match.count > 1) {
    throw new ToolError(
      "failed",
      `old_text matches ${match.count} locations. Include more context to make match unique.`,
    );
  }
  const similar = findSimilar(content.toString("utf8"), old_text);
  const hint =
    similar === undefined
      ? "Tip: Use read_file to see the current contents of the file."
      : `Did you mean:\n\`\`\`\n${similar}\n\`\`\`\nold_text must match exactly, including whitespace and indentation.`;
  throw new ToolError("failed", `old_text not found in ${path}.\n\n${hint}`);
}

function createUnreadableError(path: string, cause: unknown): ToolError {
  return new ToolError("failed", `Cannot read ${path}. Use write_file to create new files.`, { cause });
}

function hashContent(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
