import { StoreError } from "../../store/transcript/store-error.ts";
import type { MessageInput } from "../../workflows/messages.ts";
import type { ClientLink } from "../connection/client-link.ts";
import type { JobRequest } from "./build-job-request.ts";

// Who retains the stored texts, images and files of tasks beyond their lease of a day: a part of a job may start much later.

/** The owner of a schedule's texts. No id of a session or a job contains a slash. */
function formatScheduleOwner(name: string): string {
  return `schedules/${name}`;
}

/** Lists the messages of a job's request. */
export function listTasks(request: JobRequest): readonly MessageInput[] {
  const parts = "parts" in request ? request.parts.map(({ task }) => task) : [];
  return request.task === undefined ? parts : [request.task, ...parts];
}

/** Retains what a job's request refers to with the job's sessions. If the store is away, the lease remains. */
export async function keepJobTexts(link: ClientLink, job: string, request: JobRequest): Promise<void> {
  try {
    await addOwner(link, job, listTasks(request));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}

/** Retains what a schedule's request refers to until `releaseScheduleTexts`. */
export async function keepScheduleTexts(
  link: ClientLink,
  name: string,
  tasks: readonly MessageInput[],
): Promise<void> {
  await addOwner(link, formatScheduleOwner(name), tasks);
}

/** Leaves the texts of a deleted schedule to retention. */
export async function releaseScheduleTexts(link: ClientLink, name: string): Promise<void> {
  const transcript = await link.storage.openExistingTranscript();
  await transcript?.archive.releaseTexts(formatScheduleOwner(name), Date.now());
}

async function addOwner(link: ClientLink, owner: string, tasks: readonly MessageInput[]): Promise<void> {
  const refs = new Set(
    tasks.flatMap((task) => (typeof task === "string" || task.ref === undefined ? [] : [task.ref])),
  );
  if (refs.size === 0) return;
  const { archive } = await link.storage.openTranscript();
  for (const ref of refs) await archive.addTextOwner(owner, ref);
}
