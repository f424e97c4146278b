import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { AGENT_WORKFLOW, type MessageInput, WAKE_WORKFLOW } from "../../workflows/messages.ts";
import type { StartRequest } from "../../workflows/run-input.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { formatPromptLabel, getPromptText } from "../prompts/prompt-part.ts";
import { buildJobRequest, toTask } from "./build-job-request.ts";
import { getRunSettings } from "./build-run-options.ts";
import { listTasks } from "./keep-texts.ts";
import { assertFitsInline, assertPrompt, createMessageInput, INLINE_BYTES } from "./message-input.ts";
import { checkWorkspace, validateDefinition } from "./pin-definition.ts";
import { resolveJobId } from "./resolve-job-id.ts";
import { formatSummary } from "./run-labels.ts";
import { buildMemo } from "./run-memo.ts";
import type { CreateScheduleOptions } from "./schedules.ts";
import { parseMode } from "./start-job.ts";
import { WORKFLOW_OF_MODE } from "./workflow-of-mode.ts";

/** The workflow that each start of a schedule begins. */
type ScheduleAction = {
  readonly workflowType: string;
  readonly request: object;
  /** The messages of the request. What they refer to must stay as long as the schedule. */
  readonly tasks: readonly MessageInput[];
  readonly summary: string;
  readonly memo?: Record<string, string>;
};

/** Builds what a schedule starts. A schedule lives long: its texts are sent whole, and the schedule retains its images and files. */
export async function buildScheduleAction(
  link: ClientLink,
  options: CreateScheduleOptions,
): Promise<ScheduleAction> {
  if ("wake" in options) {
    const { wake, text } = options;
    if (text !== undefined) assertFitsInline(text, "wake-up");
    const request = { job: resolveJobId(wake), ...omitUndefined({ message: text }) };
    return { workflowType: WAKE_WORKFLOW, request, tasks: [], summary: `wakes ${wake}` };
  }
  const { task } = options;
  if (task !== undefined) {
    assertPrompt(task, "task");
    assertFitsInline(getPromptText(task), "task");
  }
  const text = task === undefined ? undefined : formatPromptLabel(task);
  if ("agent" in options) {
    const definition = validateDefinition(options.agent);
    const findModels = () => [definition.model];
    const prompt = toTask(await createMessageInput(link, options.task, "task", { findModels }));
    await checkWorkspace(definition);
    const definitionHash = await (await link.storage.openTranscript()).saveDefinition(definition);
    const request: StartRequest = { definitionHash, prompt, mode: "run", ...getRunSettings(link) };
    return {
      workflowType: AGENT_WORKFLOW,
      request,
      tasks: [prompt],
      summary: formatSummary(text, link.settings.redactContent),
      ...omitUndefined({ memo: buildMemo(link, "session", definition) }),
    };
  }
  const mode = parseMode(options.mode);
  if (mode.type === "interactive") {
    throw new HoldfastError(
      "input-invalid",
      "An interactive agent waits for a user, so that it cannot be scheduled.",
    );
  }
  const request = await buildJobRequest(link, mode, task, INLINE_BYTES);
  return {
    workflowType: WORKFLOW_OF_MODE[mode.type],
    request,
    tasks: listTasks(request),
    ...omitUndefined({ memo: buildMemo(link, mode.type) }),
    summary: text === undefined ? mode.type : formatSummary(text, link.settings.redactContent),
  };
}
