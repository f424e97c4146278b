import { readTaskText } from "../../../activities/close-loop/task-text.ts";
import type { TaskRef } from "../../../core/machine/task.ts";
import type { Stage } from "./stage.ts";

/** The words of a task, as its caller's record has them. */
export async function wordsOfTask({ place, transcript }: Stage, task: TaskRef): Promise<string> {
  const record = place?.caller.transcript ?? transcript;
  return await readTaskText(task, {
    readEntries: async (_, branch, from, to) => record.listEntries(branch).slice(from, to),
  });
}
