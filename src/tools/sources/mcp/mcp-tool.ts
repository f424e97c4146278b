import type { McpServer } from "../../../schema/mcp.ts";
import type { PinnedTool } from "../../../schema/tool-source.ts";
import type { ExecutableTool, OfferedTool } from "../../tool.ts";
import { type ToolContext, ToolError, type ToolOutput } from "../../tool-execution.ts";
import { createArgumentParser } from "./argument-parser.ts";
import type { Elicit, Progress, Sample } from "./mcp-connection.ts";
import { McpError } from "./mcp-error.ts";
import { hashTool } from "./pin-tools.ts";
import type { PooledServer } from "./pooled-server.ts";
import { getOwnSandbox } from "./server-place.ts";
import { formatContent, toToolResult } from "./tool-result.ts";

/** The worker adds this to a request's limit: time to wait for a turn and for the server to start. */
const TIMEOUT_MARGIN_MS = 60_000;

const MAX_SUMMARY_CHARS = 200;

/** Handles the requests that a server sends while a tool runs, by call. */
export type ServerRequestHandlers = {
  readonly elicit?: ((context: ToolContext) => Elicit | undefined) | undefined;
  readonly sample?: ((context: ToolContext) => Sample | undefined) | undefined;
  /** Whether the model is notified elsewhere of changes in what the server offers. */
  readonly isNotified?: ((context: ToolContext, server: McpServer) => Promise<boolean>) | undefined;
};

/** Creates a tool of a server as a worker executes it (MCP-05). Connects at the first call. */
export function createMcpTool(
  pinned: PinnedTool,
  server: McpServer,
  getServer: (context: Pick<ToolContext, "workspace">) => PooledServer,
  handlers: ServerRequestHandlers = {},
): ExecutableTool {
  return {
    ...toOfferedTool(pinned, server),
    kind: "executable",
    ...describeProcesses(server),
    parse: createArgumentParser(pinned.parameters),
    execute: async (parameters, context) => {
      const pooled = getServer(context);
      const { result, notes } = await convertToToolError(
        () =>
          pooled.callTool(pinned.remote, parameters as Record<string, unknown>, {
            signal: context.signal,
            onProgress: (progress) => context.onProgress(pooled.mask(formatProgress(progress))),
            elicit: handlers.elicit?.(context),
            sample: handlers.sample?.(context),
            onSandbox: context.sandbox?.note,
          }),
        () => describeToolChange(pinned, pooled),
      );
      await pooled.refreshIfStale(context.signal);
      const isNotified = (await handlers.isNotified?.(context, server)) ?? false;
      return toToolOutput(pinned, pooled, result, notes, isNotified);
    },
  };
}

/** Returns the properties that all tools of servers share. */
export function toOfferedTool(
  { name, description, parameters, replay, confirm = false }: PinnedTool,
  { timeoutMs, maxTimeoutMs = 600_000, transport }: McpServer,
): Omit<OfferedTool, "parse"> {
  return {
    name,
    label: name,
    description,
    parameters,
    replay,
    quick: false,
    timeoutMs: Math.max(timeoutMs, maxTimeoutMs) + TIMEOUT_MARGIN_MS,
    summarise: (value) => (JSON.stringify(value) ?? "").slice(0, MAX_SUMMARY_CHARS),
    touches: () => (transport.type === "http" ? { hosts: [transport.url] } : {}),
    needsApproval: confirm,
  };
}

/** States in which sandbox calls start the process of the server. */
export function describeProcesses(server: McpServer): Pick<ExecutableTool, "processes"> {
  if (server.transport.type === "http") return {};
  return { processes: getOwnSandbox(server)?.mode ?? "sandboxed" };
}

/** Converts each failure of a server to a result that the model reads (MCP-06). @param notes - Appended to the message. */
export async function convertToToolError<Result>(
  work: () => Promise<Result>,
  notes: () => readonly string[] = () => [],
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    if (error.fault === "cancelled") throw new ToolError("cancelled", error.message, { cause: error });
    throw new ToolError("failed", [error.message, ...formatNotes(notes())].join("\n"), { cause: error });
  }
}

function formatNotes(notes: readonly string[]): readonly string[] {
  return notes.map((note) => `(${note})`);
}

/** Explains a failure in the output, even if the model is notified elsewhere. */
function toToolOutput(
  pinned: PinnedTool,
  pooled: PooledServer,
  answer: unknown,
  notes: readonly string[],
  isNotified: boolean,
): ToolOutput {
  const { content: rawContent, isError, details } = toToolResult(answer);
  const content = maskContent(pooled, rawContent);
  const noteLines = formatNotes([
    ...notes,
    ...(isNotified && !isError ? [] : describeToolChange(pinned, pooled)),
  ]);
  if (isError) throw new ToolError("failed", [formatContent(content), ...noteLines].join("\n"));
  return {
    content: [...content, ...noteLines.map((text) => ({ type: "text" as const, text }))],
    ...(details === undefined ? {} : { details: maskDetails(pooled, details) }),
  };
}

function maskDetails(
  pooled: PooledServer,
  details: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return JSON.parse(pooled.mask(JSON.stringify(details))) as Record<string, unknown>;
}

/** Masks secrets: the server received them and may repeat them. */
export function maskContent(
  pooled: Pick<PooledServer, "mask">,
  content: ToolOutput["content"],
): ToolOutput["content"] {
  return content.map((part) => (part.type === "text" ? { ...part, text: pooled.mask(part.text) } : part));
}

/** Describes a change of the tool. A run keeps its pinned tools, so the model is informed of the change. */
function describeToolChange({ remote, hash }: PinnedTool, pooled: PooledServer): readonly string[] {
  const now = pooled.lastListing?.tools.find(({ name }) => name === remote);
  if (pooled.lastListing === undefined || (now !== undefined && hashTool(now) === hash)) return [];
  const what = now === undefined ? "no longer offers this tool" : "has changed its definition of this tool";
  return [`Since this run began, the server ${what}; you have the old description.`];
}

function formatProgress({ progress, total, message }: Progress): string {
  const amount = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return message === undefined || message === "" ? amount : `${amount}: ${message}`;
}
