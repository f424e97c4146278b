import type { AgentDefinition } from "../../schema/definition.ts";
import type { RunSettings } from "../../workflows/input.ts";
import type { Link } from "../connection/link.ts";
import { attributesAtStart, detailsOf, summaryOf } from "./labels.ts";

/** A kill during a local step waits for the workflow task's time-out (design 3.18). */
export const WORKFLOW_TASK_TIMEOUT = "5 seconds";

/** How every run is started, whoever starts it. */
export function runOptions(
  link: Link,
  session: string,
  shown: {
    readonly definition?: AgentDefinition | undefined;
    readonly prompt?: string | undefined;
    readonly summary?: string;
  },
) {
  const { words } = link.settings;
  const prompt = shown.prompt === undefined || words !== "none" ? shown.prompt : "";
  return {
    workflowId: session,
    taskQueue: link.taskQueue,
    workflowIdReusePolicy: "ALLOW_DUPLICATE" as const,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    staticSummary: shown.summary ?? summaryOf(shown.prompt, words),
    staticDetails: detailsOf(shown.definition, prompt),
    ...(link.searchAttributes ? { typedSearchAttributes: attributesAtStart(session, shown.definition) } : {}),
  };
}

/** The settings that travel with a start; none when all are the usual ones. */
export function settingsOf(link: Link): { settings?: Partial<RunSettings> } {
  const settings: Partial<RunSettings> = {
    ...link.settings,
    ...(link.searchAttributes ? {} : { searchAttributes: false }),
  };
  return Object.keys(settings).length === 0 ? {} : { settings };
}
