import { defineSearchAttributeKey, type SearchAttributePair } from "@temporalio/common";
import { truncateForPreview } from "../../platform/text/preview.ts";
import { redact } from "../../platform/text/redact.ts";
import type { AgentDefinition } from "../../schema/definition.ts";

// The texts that the Temporal UI displays for a run from its start.

/** The server accepts 400 bytes of JSON, in which quotes and umlauts take more space. */
const SUMMARY_BYTES = 120;
/** The server accepts 20,000 bytes. */
const DETAIL_BYTES = 1024;
/** The characters that are searched for secrets: enough for a detail, whatever the prompt's length. */
const READ_CHARS = 4096;

export const KEYS = {
  agent: defineSearchAttributeKey("HoldfastAgent", "KEYWORD"),
  model: defineSearchAttributeKey("HoldfastModel", "KEYWORD"),
  session: defineSearchAttributeKey("HoldfastSession", "KEYWORD"),
  status: defineSearchAttributeKey("HoldfastStatus", "KEYWORD"),
  turns: defineSearchAttributeKey("HoldfastTurns", "INT"),
  costUsd: defineSearchAttributeKey("HoldfastCostUsd", "DOUBLE"),
  title: defineSearchAttributeKey("HoldfastTitle", "TEXT"),
} as const;

/** Formats the beginning of the prompt on one line. */
export function formatSummary(prompt: string | undefined, redactContent?: boolean | undefined): string {
  if (prompt === undefined) return "waits for a prompt";
  if (redactContent === true) return "has a prompt";
  return truncateForPreview(shortenText(prompt).replace(/\s+/g, " ").trim(), SUMMARY_BYTES);
}

/** Formats a title and the name of the agent, which stays whole. */
export function formatTitle(title: string, agent: string | undefined): string {
  if (agent === undefined) return truncateForPreview(title, SUMMARY_BYTES);
  const suffix = ` · ${truncateForPreview(agent, SUMMARY_BYTES / 3)}`;
  return truncateForPreview(title, SUMMARY_BYTES - Buffer.byteLength(suffix)) + suffix;
}

/** Formats the summary of a job. */
export function formatJobSummary(type: string, agents: string, title: string | undefined): string {
  const what = `${type}: ${agents}`;
  return title === undefined ? what : formatTitle(title, what);
}

/** Formats the summary of an evaluation. */
export function formatEvaluationSummary(
  agents: number,
  strategy: string,
  prompt: string | undefined,
  redactContent?: boolean | undefined,
): string {
  const what = prompt === undefined ? "continues the conversation" : formatSummary(prompt, redactContent);
  return truncateForPreview(`${agents} agents · ${strategy} · ${what}`, SUMMARY_BYTES);
}

/** Formats the details as Markdown. */
export function formatDetails(definition: AgentDefinition | undefined, prompt: string | undefined): string {
  const goal = prompt === undefined ? "" : truncateForPreview(shortenText(prompt), DETAIL_BYTES);
  const rows = [
    ...(definition === undefined
      ? []
      : [
          `- **Agent**: ${definition.name}`,
          `- **Model**: ${definition.model.provider}/${definition.model.id}`,
          `- **Workspace**: ${definition.workspace ?? "none"}`,
          `- **Tools**: ${definition.tools.join(", ") || "none"}`,
        ]),
  ];
  return [rows.join("\n"), goal.replace(/^/gm, "> ")].filter((part) => part !== "").join("\n\n");
}

export function buildStartAttributes(
  session: string,
  definition: AgentDefinition | undefined,
  title: string | undefined,
): SearchAttributePair[] {
  return [
    { key: KEYS.session, value: session },
    { key: KEYS.status, value: "running" },
    { key: KEYS.turns, value: 0 },
    { key: KEYS.costUsd, value: 0 },
    ...(title === undefined ? [] : [{ key: KEYS.title, value: title }]),
    ...(definition === undefined
      ? []
      : [
          { key: KEYS.agent, value: definition.name },
          { key: KEYS.model, value: definition.model.id },
        ]),
  ];
}

function shortenText(text: string): string {
  return redact(text.slice(0, READ_CHARS));
}
