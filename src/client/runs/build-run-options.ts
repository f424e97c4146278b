import type { AgentDefinition } from "../../schema/definition.ts";
import { WORKFLOW_TASK_TIMEOUT } from "../../workflows/activity-options.ts";
import type { RunSettings } from "../../workflows/run-input.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { formatPromptLabel, type Prompt } from "../prompts/prompt-part.ts";
import { buildStartAttributes, formatDetails, formatSummary } from "./run-labels.ts";

/** Builds the options with which every run is started. */
export function buildRunOptions(
  link: ClientLink,
  session: string,
  details: {
    readonly definition?: AgentDefinition | undefined;
    readonly prompt?: Prompt | undefined;
    readonly summary?: string;
  },
) {
  const { redactContent } = link.settings;
  const given = details.prompt === undefined ? undefined : formatPromptLabel(details.prompt);
  const prompt = given === undefined || redactContent !== true ? given : "";
  return {
    workflowId: session,
    taskQueue: link.taskQueue,
    workflowIdReusePolicy: "ALLOW_DUPLICATE" as const,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    staticSummary: details.summary ?? formatSummary(given, redactContent),
    staticDetails: formatDetails(details.definition, prompt),
    ...(link.searchAttributes
      ? { typedSearchAttributes: buildStartAttributes(session, details.definition) }
      : {}),
  };
}

/** Returns the settings to pass with a start; nothing if all have their defaults. */
export function getRunSettings(link: ClientLink): { settings?: Partial<RunSettings> } {
  const settings: Partial<RunSettings> = {
    ...link.settings,
    ...(link.searchAttributes ? {} : { searchAttributes: false }),
  };
  return Object.keys(settings).length === 0 ? {} : { settings };
}
