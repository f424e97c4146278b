import { createHash } from "node:crypto";
import { z } from "zod";
import { defineTool, type ExecutableTool, type ToolContext, ToolError } from "../../../tools/tool.ts";
import { toVisibleText } from "../text/visible-text.ts";
import {
  applyOperation,
  EMPTY_WORKSPACE,
  formatWorkspace,
  WorkspaceOperation,
  type WorkspaceState,
} from "../workspace/workspace-state.ts";

/** Notes are read again with every answer of this tool. */
const MAX_ITEMS = 200;
const MAX_TEXT_CHARS = 2_000;

const Arguments = z.object({
  action: z.enum(["show", "add_note", "add_task", "complete_task", "remove"]),
  text: z.string().max(MAX_TEXT_CHARS).optional().describe("The note or the task, for add_note and add_task"),
  id: z.string().max(20).optional().describe("The id of a task or a note, for complete_task and remove"),
});

const Details = z.object({ operation: WorkspaceOperation.optional() });

/**
 * The notes and tasks of an agent (IRIS-10). They live in the transcript, as the operations in the results of earlier calls:
 * a fork has those of its branch, and no crash loses one.
 */
export function createWorkspaceTool(): ExecutableTool {
  return defineTool({
    name: "workspace",
    label: "Workspace",
    description:
      "Your notes and tasks, which stay when the conversation is shortened. Note what you have found and what is left to do. Every action returns them all.",
    inputSchema: Arguments,
    replay: "pure",
    summarise: ({ action, text, id }) => `${action} ${text ?? id ?? ""}`.trim(),
    execute: async (input, context) => {
      const before = await readState(context);
      const operation = toOperation(input, before, context.idempotencyKey);
      const state = operation === undefined ? before : applyOperation(before, operation);
      if (state.notes.length + state.tasks.length > MAX_ITEMS) {
        throw new ToolError("failed", `There are ${MAX_ITEMS} notes and tasks already: remove some first`);
      }
      return {
        content: [{ type: "text", text: toVisibleText(formatWorkspace(state)) }],
        details: { ...(operation === undefined ? {} : { operation }), ...state },
      };
    },
  });
}

async function readState({ earlierResults }: ToolContext): Promise<WorkspaceState> {
  const results = (await earlierResults?.()) ?? [];
  return results.reduce<WorkspaceState>((state, { details }) => {
    const { operation } = Details.safeParse(details).data ?? {};
    return operation === undefined ? state : applyOperation(state, operation);
  }, EMPTY_WORKSPACE);
}

function toOperation(
  { action, text = "", id = "" }: z.infer<typeof Arguments>,
  { notes, tasks }: WorkspaceState,
  key: string,
): WorkspaceOperation | undefined {
  switch (action) {
    case "show":
      return undefined;
    case "add_note":
    case "add_task": {
      if (text.trim() === "") throw new ToolError("invalid-arguments", `text: required for ${action}`);
      // The same for every execution of the call.
      const own = createHash("sha256").update(key).digest("hex").slice(0, 6);
      return { type: action === "add_note" ? "add-note" : "add-task", id: own, text };
    }
    case "complete_task":
    case "remove": {
      const known = action === "remove" ? [...notes, ...tasks] : tasks;
      if (known.some((one) => one.id === id))
        return { type: action === "remove" ? "remove" : "complete-task", id };
      throw new ToolError(
        "invalid-arguments",
        `id: there is no ${action === "remove" ? "note or task" : "task"} ${id}`,
      );
    }
  }
}
