import type { FileHandle } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { z } from "zod";
import { decodeLine, LineSplitter } from "../../platform/process/line-splitter.ts";
import { defineTool, type ExecutableTool, type ToolContext, ToolError, type ToolOutput } from "../tool.ts";
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
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** The limit for one line. Minified code and data would otherwise fill a context. */
const MAX_LINE_BYTES = 64 * 1024;

/** The image types that model vendors accept. */
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};

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
      "Reads a text file with line numbers, or an image. Read large files in parts with offset and limit.",
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
          const mimeType = IMAGE_TYPES[extname(request.path).toLowerCase()];
          if (mimeType !== undefined) return await readImage(handle, mimeType, request, context);
          return await readText(handle, request, maxBytes, context);
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

async function readImage(
  handle: FileHandle,
  mimeType: string,
  { path }: ReadFileRequest,
  { signal }: ToolContext,
): Promise<ToolOutput> {
  const { size } = await handle.stat();
  if (size > MAX_IMAGE_BYTES) throw new ToolError("failed", "Image too large");
  throwIfCancelled(signal);
  const data = await handle.readFile();
  // A vendor rejects an empty image, and every later request of the conversation that contains it.
  if (data.length === 0) throw new PathError("the image is empty");
  return {
    content: [{ type: "image", data: data.toString("base64"), mimeType }],
    details: { path, bytes: data.length },
  };
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
