import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import { WORKFLOW_TASK_TIMEOUT } from "../../workflows/activity-options.ts";
import type { RunSettings } from "../../workflows/run-input.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { formatPromptLabel, type Prompt } from "../prompts/prompt-part.ts";
import { buildStartAttributes, formatDetails, formatSummary, formatTitle } from "./run-labels.ts";
import { buildMemo, type RunKind } from "./run-memo.ts";
import { getTitleSetting } from "./run-title.ts";

/** Builds the options with which every run is started. */
export function buildRunOptions(
  link: ClientLink,
  session: string,
  details: {
    /** `session` by default. */
    readonly kind?: RunKind;
    readonly definition?: AgentDefinition | undefined;
    readonly prompt?: Prompt | undefined;
    readonly summary?: string;
    readonly title?: string | undefined;
  },
) {
  const { redactContent } = link.settings;
  const given = details.prompt === undefined ? undefined : formatPromptLabel(details.prompt);
  const prompt = given === undefined || redactContent !== true ? given : "";
  const { title, definition } = details;
  const summary =
    title === undefined ? formatSummary(given, redactContent) : formatTitle(title, definition?.name);
  return {
    workflowId: session,
    taskQueue: link.taskQueue,
    workflowIdReusePolicy: "ALLOW_DUPLICATE" as const,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    ...omitUndefined({ memo: buildMemo(link, details.kind ?? "session", definition) }),
    staticSummary: details.summary ?? summary,
    staticDetails: formatDetails(definition, prompt),
    ...(link.searchAttributes
      ? {
          typedSearchAttributes: buildStartAttributes(
            session,
            definition,
            getTitleSetting(link).title === "attribute" ? title : undefined,
          ),
        }
      : {}),
  };
}

/** Returns the settings to pass with a start. */
export function getRunSettings(link: ClientLink): { settings?: Partial<RunSettings> } {
  const settings: Partial<RunSettings> = {
    ...getTitleSetting(link),
    ...link.settings,
    ...(link.searchAttributes ? {} : { searchAttributes: false }),
  };
  return Object.keys(settings).length === 0 ? {} : { settings };
}
