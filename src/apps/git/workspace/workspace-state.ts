import { z } from "zod";

/** One step in the life of an agent's notes and tasks. */
export const WorkspaceOperation = z.discriminatedUnion("type", [
  z.object({ type: z.literal("add-note"), id: z.string(), text: z.string() }),
  z.object({ type: z.literal("add-task"), id: z.string(), text: z.string() }),
  z.object({ type: z.literal("complete-task"), id: z.string() }),
  z.object({ type: z.literal("remove"), id: z.string() }),
]);
export type WorkspaceOperation = z.infer<typeof WorkspaceOperation>;

export type WorkspaceState = {
  readonly notes: readonly { readonly id: string; readonly text: string }[];
  readonly tasks: readonly { readonly id: string; readonly text: string; readonly isDone: boolean }[];
};

export const EMPTY_WORKSPACE: WorkspaceState = { notes: [], tasks: [] };

/** Returns the state after an operation. One that names an unknown id changes nothing. */
export function applyOperation(state: WorkspaceState, operation: WorkspaceOperation): WorkspaceState {
  const { notes, tasks } = state;
  switch (operation.type) {
    case "add-note":
      return { notes: [...notes, { id: operation.id, text: operation.text }], tasks };
    case "add-task":
      return { notes, tasks: [...tasks, { id: operation.id, text: operation.text, isDone: false }] };
    case "complete-task":
      return {
        notes,
        tasks: tasks.map((task) => (task.id === operation.id ? { ...task, isDone: true } : task)),
      };
    case "remove":
      return {
        notes: notes.filter(({ id }) => id !== operation.id),
        tasks: tasks.filter(({ id }) => id !== operation.id),
      };
  }
}

export function formatWorkspace({ notes, tasks }: WorkspaceState): string {
  if (notes.length + tasks.length === 0) return "No notes and no tasks yet.";
  return [
    ...tasks.map(({ id, text, isDone }) => `[${isDone ? "x" : " "}] ${id}: ${text}`),
    ...notes.map(({ id, text }) => `- ${id}: ${text}`),
  ].join("\n");
}
