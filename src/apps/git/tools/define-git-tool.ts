import type { z } from "zod";
import {
  defineTool,
  type ExecutableTool,
  type ToolContext,
  ToolError,
  type TouchedResources,
} from "../../../tools/tool.ts";
import { type Repository, withRepository } from "../repository/repository.ts";
import { RepositoryError } from "../repository/repository-error.ts";
import { TrustStore } from "../repository/trust-store.ts";
import { toVisibleText } from "../text/visible-text.ts";

export type GitToolOptions = {
  /** The home folder, which has the user's answers about trust. Without one no repository is trusted. */
  readonly home?: string | undefined;
  /** Another index than the repository's own: git gives a hook one (`GIT_INDEX_FILE`). */
  readonly index?: string | undefined;
};

/** What a tool answers: a text for the model, and the same as data for programs. */
type Answer = { readonly text: string; readonly details: Readonly<Record<string, unknown>> };

export type GitToolSpec<Schema extends z.ZodObject> = {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly inputSchema: Schema;
  readonly timeoutMs?: number;
  readonly processes?: ExecutableTool["processes"];
  readonly summarise?: (input: z.infer<Schema>) => string;
  readonly touches?: (input: z.infer<Schema>) => TouchedResources;
  readonly answer: (repository: Repository, input: z.infer<Schema>, context: ToolContext) => Promise<Answer>;
};

/**
 * The longest text of one answer, in characters: about 15,000 tokens. The tools stay below it and name what they leave out;
 * this is the last line.
 */
const MAX_ANSWER_CHARS = 60_000;

const TIMEOUT_MS = 150_000;

/** Creates a tool that only reads the repository of its workspace. */
export function defineGitTool<Schema extends z.ZodObject>(
  { answer, ...spec }: GitToolSpec<Schema>,
  { home, index }: GitToolOptions,
): ExecutableTool {
  return defineTool({
    timeoutMs: TIMEOUT_MS,
    ...spec,
    replay: "pure",
    execute: async (input, context) => {
      try {
        const { workspace, signal } = context;
        const isTrusted = home !== undefined && (await new TrustStore(home).read(workspace)) === "trusted";
        const { text, details } = await withRepository(
          workspace,
          { isTrusted, index, signal },
          async (repository) => await answer(repository, input, context),
        );
        return { content: [{ type: "text", text: boundText(toVisibleText(text)) }], details };
      } catch (error) {
        throw toToolError(error);
      }
    },
  });
}

function boundText(text: string): string {
  if (text.length <= MAX_ANSWER_CHARS) return text;
  const left = text.length - MAX_ANSWER_CHARS;
  return `${text.slice(0, MAX_ANSWER_CHARS)}\n[... ${left} more characters are not shown; ask for less at once]`;
}

function toToolError(error: unknown): unknown {
  if (!(error instanceof RepositoryError)) return error;
  const fault = error.fault === "cancelled" ? "cancelled" : "failed";
  return new ToolError(fault, toVisibleText(error.message), { cause: error });
}
