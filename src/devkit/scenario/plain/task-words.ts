import { readTaskText } from "../../../activities/close-loop/task-text.ts";
import type { TaskRef } from "../../../core/machine/state/task.ts";
import type { Stage } from "./stage.ts";

/** Reads the text of a task from its caller's record. */
export async function wordsOfTask({ place, transcript }: Stage, task: TaskRef): Promise<string> {
  const record = place?.caller.transcript ?? transcript;
  return await readTaskText(task, {
    readEntries: async (_, branch, from, to) => record.listEntries(branch).slice(from, to),
  });
}
