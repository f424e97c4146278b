import type { FileHandle } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { z } from "zod";
import { isTextFile } from "../../core/view/attachment.ts";
import { OWN_LIMITS } from "../../core/view/model-input.ts";
import { decodeLine, LineSplitter } from "../../platform/process/line-splitter.ts";
import { buildFilePart } from "../file-part.ts";
import { defineTool, type ExecutableTool } from "../tool.ts";
import { type ToolContext, ToolError, type ToolOutput } from "../tool-execution.ts";
import { PathError, throwIfCancelled, toToolError } from "../workspace/system-error.ts";
import {
  isWithin,
  openFile,
  openRoot,
  resolvePath,
  type WorkspaceRoot,
} from "../workspace/workspace-access.ts";

/** The options of the tool that reads a file. */
export type ReadFileToolOptions = {
  /** The limit for a whole file, and for the lines returned from a larger file. */
  readonly maxBytes?: number;
  /** Files and folders in the workspace that may be read; the whole workspace if empty. */
  readonly allowedPaths?: readonly string[];
};

const DEFAULT_MAX_BYTES = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** The limit for one line. Minified code and data would otherwise fill a context. */
const MAX_LINE_BYTES = 64 * 1024;

/** Files that are no text to a reader, whatever bytes they have. */
const FILE_NAME = /\.(?:png|jpe?g|gif|webp|pdf)$/i;

const Parameters = z.object({
  path: z.string().describe("Path of the file, relative to the workspace"),
  offset: z.number().int().min(1).optional().describe("First line to read; lines count from 1"),
  limit: z.number().int().min(1).optional().describe("How many lines to read"),
});

type ReadFileRequest = z.infer<typeof Parameters>;

export function createReadFileTool(options: ReadFileToolOptions = {}): ExecutableTool {
  const { maxBytes = DEFAULT_MAX_BYTES, allowedPaths = [] } = options;
  return defineTool({
    name: "read_file",
    label: "Read file",
    description:
      "Reads a text file with line numbers, an image or a PDF document. Read large files in parts with offset and limit.",
    inputSchema: Parameters,
    replay: "pure",
    quick: true,
    touches: ({ path }) => ({ paths: [path] }),
    summarise: ({ path }) => path,
    async execute(request, context) {
      throwIfCancelled(context.signal);
      const root = await openRoot(context.workspace);
      try {
        const { handle, realPath } = await openFile(root, request.path);
        try {
          if (!isAllowed(root, allowedPaths, realPath)) {
            throw new ToolError("failed", `${request.path} is outside the allowed paths`);
          }
          const file = FILE_NAME.test(request.path)
            ? await readWholeFile(handle, request, context)
            : undefined;
          return file ?? (await readText(handle, request, maxBytes, context));
        } finally {
          await handle.close();
        }
      } catch (error) {
        throw toToolError(error, `Cannot access ${request.path}`);
      }
    },
  });
}

function isAllowed(root: WorkspaceRoot, allowedPaths: readonly string[], realPath: string): boolean {
  if (allowedPaths.length === 0) return true;
  return allowedPaths.some((path) => {
    resolvePath(root, path);
    return isWithin(resolve(root.realPath, path), realPath);
  });
}

/** Reads an image or a PDF document. The bytes decide what it is: a text under such a name is read as a text. */
async function readWholeFile(
  handle: FileHandle,
  { path }: ReadFileRequest,
  { signal }: ToolContext,
): Promise<ToolOutput | undefined> {
  const { size } = await handle.stat();
  const [kind, maxBytes] = /\.pdf$/i.test(path)
    ? ["PDF document", OWN_LIMITS.pdfBytes]
    : ["Image", OWN_LIMITS.imageBytes];
  if (size > maxBytes) throw new ToolError("failed", `${kind} too large`);
  throwIfCancelled(signal);
  const bytes = Buffer.alloc(size);
  const { bytesRead } = await handle.read(bytes, 0, size, 0);
  const result = buildFilePart(bytes.subarray(0, bytesRead), { name: basename(path) });
  if (result.type === "refused") throw new PathError(result.reason);
  if (result.part.type === "file" && isTextFile(result.part)) return undefined;
  return { content: [result.part], details: { path, bytes: bytesRead } };
}

async function readText(
  handle: FileHandle,
  { path, offset = 1, limit = Number.POSITIVE_INFINITY }: ReadFileRequest,
  maxBytes: number,
  { signal }: ToolContext,
): Promise<ToolOutput> {
  const isWhole = offset === 1 && limit === Number.POSITIVE_INFINITY;
  const { size } = await handle.stat();
  if (isWhole && size > maxBytes) throw createTooLargeError();

  const lines: string[] = [];
  let total = 0;
  let bytes = 0;
  const splitter = new LineSplitter(MAX_LINE_BYTES, (line, isCut) => {
    total += 1;
    if (total < offset || total >= offset + limit) return;
    bytes += line.length + 1;
    if (bytes <= maxBytes + 1) lines.push(`${String(total).padStart(4)} | ${decodeLine(line, isCut)}`);
  });
  // A file that reports zero size (as under /proc) or that grows during the read must not be read forever.
  const end = isWhole ? maxBytes + 1 : Math.max(size, maxBytes);
  const buffer = Buffer.alloc(CHUNK_BYTES);
  for (let position = 0; position < end; ) {
    throwIfCancelled(signal);
    const wanted = Math.min(CHUNK_BYTES, end - position);
    const { bytesRead } = await handle.read(buffer, 0, wanted, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    splitter.push(buffer.subarray(0, bytesRead));
    if (bytes > maxBytes + 1 || (isWhole && position > maxBytes)) throw createTooLargeError();
  }
  splitter.end();
  if (bytes > maxBytes + 1) throw createTooLargeError();
  if (offset > Math.max(total, 1)) {
    throw new ToolError("failed", `Cannot access line ${offset} of ${path}: it has ${total} lines`);
  }

  const lastLine = offset - 1 + lines.length;
  const header =
    offset > 1 || lastLine < total ? `[Lines ${offset}-${lastLine} of ${total}]` : `[${total} lines]`;
  return { content: [{ type: "text", text: `${header}\n${lines.join("\n")}` }], details: { path } };
}

function createTooLargeError(): ToolError {
  return new ToolError("failed", "File too large. Use offset/limit for partial reads.");
}
