import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { AGENT_WORKFLOW, WAKE_WORKFLOW } from "../../workflows/messages.ts";
import type { StartRequest } from "../../workflows/run-input.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { buildJobRequest } from "./build-job-request.ts";
import { getRunSettings } from "./build-run-options.ts";
import { assertFitsInline, INLINE_BYTES } from "./message-input.ts";
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
  readonly summary: string;
  readonly memo?: Record<string, string>;
};

/** Builds what a schedule starts. A schedule lives long: its request is sent whole, or stored permanently. */
export async function buildScheduleAction(
  link: ClientLink,
  options: CreateScheduleOptions,
): Promise<ScheduleAction> {
  if ("wake" in options) {
    const { wake, text } = options;
    if (text !== undefined) assertFitsInline(text, "wake-up");
    const request = { job: resolveJobId(wake), ...omitUndefined({ message: text }) };
    return { workflowType: WAKE_WORKFLOW, request, summary: `wakes ${wake}` };
  }
  if (options.task !== undefined) assertFitsInline(options.task, "task");
  if ("agent" in options) {
    const definition = validateDefinition(options.agent);
    await checkWorkspace(definition);
    const definitionHash = await (await link.storage.openTranscript()).saveDefinition(definition);
    const { task } = options;
    const request: StartRequest = { definitionHash, prompt: task, mode: "run", ...getRunSettings(link) };
    return {
      workflowType: AGENT_WORKFLOW,
      request,
      summary: formatSummary(task, link.settings.redactContent),
      memo: buildMemo("session", definition),
    };
  }
  const mode = parseMode(options.mode);
  if (mode.type === "interactive") {
    throw new HoldfastError(
      "input-invalid",
      "An interactive agent waits for a user, so that it cannot be scheduled.",
    );
  }
  const request = await buildJobRequest(link, mode, options.task, INLINE_BYTES);
  return {
    workflowType: WORKFLOW_OF_MODE[mode.type],
    request,
    memo: buildMemo(mode.type),
    summary:
      options.task === undefined ? mode.type : formatSummary(options.task, link.settings.redactContent),
  };
}
