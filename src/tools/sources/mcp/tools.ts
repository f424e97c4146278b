import type { McpServer } from "../../../schema/mcp.ts";
import type { ImageContent, TextContent } from "../../../schema/message.ts";
import type { PinnedTool } from "../../../schema/outside.ts";
import {
  type ExecutableTool,
  type OfferedTool,
  type ToolContext,
  ToolError,
  type ToolOutput,
} from "../../tool.ts";
import { argumentCheck } from "./arguments.ts";
import type { Ask, Progress, Sample } from "./connection.ts";
import { McpError } from "./error.ts";
import type { KeptServer } from "./kept-server.ts";
import { hashOf } from "./offered.ts";
import { resultOf, wordsOf } from "./result.ts";

/** What the worker's own limit leaves on top of a request's: waiting for a turn, and for a server that starts. */
const SPARE_MS = 60_000;

const MAX_SUMMARY_CHARS = 200;

/** Who answers what a server asks while a tool runs, by the call. */
export type Handlers = {
  readonly ask?: ((context: ToolContext) => Ask | undefined) | undefined;
  readonly sample?: ((context: ToolContext) => Sample | undefined) | undefined;
  /** Whether the model is told elsewhere of what the server offers by now. */
  readonly isTold?: ((context: ToolContext, server: McpServer) => Promise<boolean>) | undefined;
};

/** A tool of a server as a worker executes it (MCP-05). Connects when it is called. */
export function mcpTool(
  pinned: PinnedTool,
  server: McpServer,
  keep: () => KeptServer,
  handlers: Handlers = {},
): ExecutableTool {
  return {
    ...shell(pinned, server),
    kind: "executable",
    parse: argumentCheck(pinned.parameters),
    execute: async (parameters, context) => {
      const kept = keep();
      const { result, notes } = await toldAsTool(
        () =>
          kept.call(pinned.remote, parameters as Record<string, unknown>, {
            signal: context.signal,
            onProgress: (progress) => context.progress(kept.hide(shownProgress(progress))),
            ask: handlers.ask?.(context),
            sample: handlers.sample?.(context),
          }),
        () => drift(pinned, kept),
      );
      await kept.lookAgain(context.signal);
      const isTold = (await handlers.isTold?.(context, server)) ?? false;
      return outputOf(pinned, kept, result, notes, isTold);
    },
  };
}

/** What all tools of servers have in common. */
export function shell(
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
    timeoutMs: Math.max(timeoutMs, maxTimeoutMs) + SPARE_MS,
    summarise: (value) => (JSON.stringify(value) ?? "").slice(0, MAX_SUMMARY_CHARS),
    touches: () => (transport.type === "http" ? { hosts: [transport.url] } : {}),
    confirm,
  };
}

/** Every trouble with a server is a result that the model reads (MCP-06). @param notes - Said behind it. */
export async function toldAsTool<Result>(
  work: () => Promise<Result>,
  notes: () => readonly string[] = () => [],
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    if (error.fault === "cancelled") throw new ToolError("cancelled", error.message, { cause: error });
    throw new ToolError("failed", [error.message, ...inBrackets(notes())].join("\n"), { cause: error });
  }
}

function inBrackets(notes: readonly string[]): readonly string[] {
  return notes.map((note) => `(${note})`);
}

/** What fails is explained, told elsewhere or not. */
function outputOf(
  pinned: PinnedTool,
  kept: KeptServer,
  answer: unknown,
  notes: readonly string[],
  isTold: boolean,
): ToolOutput {
  const { content: said, isError, details } = resultOf(answer);
  const content = hidden(kept, said);
  const told = inBrackets([...notes, ...(isTold && !isError ? [] : drift(pinned, kept))]);
  if (isError) throw new ToolError("failed", [wordsOf(content), ...told].join("\n"));
  return {
    content: [...content, ...told.map((text) => ({ type: "text" as const, text }))],
    ...(details === undefined ? {} : { details: hiddenIn(kept, details) }),
  };
}

function hiddenIn(kept: KeptServer, details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return JSON.parse(kept.hide(JSON.stringify(details))) as Record<string, unknown>;
}

/** The server was told secrets, and may repeat them. */
export function hidden(
  kept: Pick<KeptServer, "hide">,
  content: readonly (TextContent | ImageContent)[],
): (TextContent | ImageContent)[] {
  return content.map((part) => (part.type === "text" ? { ...part, text: kept.hide(part.text) } : part));
}

/** A run works with the tools that it began with; that a server means another one by now is said. */
function drift({ remote, hash }: PinnedTool, kept: KeptServer): readonly string[] {
  const now = kept.known?.tools.find(({ name }) => name === remote);
  if (kept.known === undefined || (now !== undefined && hashOf(now) === hash)) return [];
  const what = now === undefined ? "no longer offers this tool" : "has changed what it says of this tool";
  return [`Since this run began, the server ${what}; the description that you have is the old one.`];
}

function shownProgress({ progress, total, message }: Progress): string {
  const amount = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return message === undefined || message === "" ? amount : `${amount}: ${message}`;
}
