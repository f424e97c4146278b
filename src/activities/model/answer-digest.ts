import { computeCost } from "../../core/budget/usage.ts";
import type { CallDigest, ModelDigest } from "../../core/machine/state/digest.ts";
import { announcesToolCall } from "../../core/machine/tool-intent.ts";
import { estimateMessage } from "../../core/view/estimate.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { isOverflowText } from "../../platform/text/overflow.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { AssistantMessage, ToolCallContent } from "../../schema/message.ts";
import { getMessageText, joinText } from "../../schema/message-text.ts";
import type { PermissionPolicy } from "../../schema/permission.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Dependencies } from "../dependencies.ts";
import { getAvailableTools, getToolsForParsing } from "./available-tools.ts";
import { collectFacts } from "./call-facts.ts";
import { parseCall } from "./read-call.ts";
import { buildOutputPlan, isFinalCall, judgeOutput, type OutputPlan } from "./structured-output.ts";

const PREVIEW_BYTES = 256;

/** The limit for all calls of an answer as JSON: half of what Temporal accepts as one payload. */
const CALLS_BYTES = 1024 * 1024;

const TOO_LARGE_TEXT =
  "the calls of this answer are too large together, and this one was not examined; repeat it in an answer with fewer calls";

/** Builds the digest of an answer for the machine. The store fills in the branch. */
export async function buildAnswerDigest(
  message: AssistantMessage,
  definition: AgentDefinition,
  { tools, providers, defaultWorkspace }: Pick<Dependencies, "tools" | "providers" | "defaultWorkspace">,
  { attempts, textOnly = false }: { readonly attempts: number; readonly textOnly?: boolean },
): Promise<ModelDigest> {
  const plan = buildOutputPlan(definition, providers);
  const output = plan === undefined ? undefined : judgeOutput(message, plan);
  const offered = getAvailableTools(definition, tools);
  const known = getToolsForParsing(definition, tools);
  const workspace = definition.workspace ?? defaultWorkspace;
  const examined = await Promise.all(
    message.content.flatMap((part) =>
      part.type === "toolCall" ? [buildCallDigest(part, known, definition.permissions, workspace, plan)] : [],
    ),
  );
  const calls = limitCalls(examined);
  const overflow = message.stopReason === "error" && isOverflowText(message.errorMessage ?? "");
  return {
    branch: "",
    stopReason: message.stopReason,
    usage: message.usage,
    costUsd: computeCost(message.usage, definition.model.cost, message.longestQuestion),
    tokens: estimateMessage(message),
    calls,
    preview: redactPreview(overflow ? (message.errorMessage ?? "") : getMessageText(message), PREVIEW_BYTES),
    ...(overflow ? { isOverflow: overflow } : {}),
    ...(output?.ok !== true && announcesMissingCall(message, definition, textOnly ? 0 : offered.length)
      ? { announcesCall: true }
      : {}),
    ...omitUndefined({ outputVerdict: output }),
    attempts,
  };
}

/** Returns calls that exceed the size limit to the model. */
export function limitCalls(calls: readonly CallDigest[]): readonly CallDigest[] {
  let room = CALLS_BYTES;
  return calls.map((call) => {
    room -= Buffer.byteLength(JSON.stringify(call), "utf8");
    return room >= 0 || call.isFinal === true
      ? call
      : { id: call.id, name: call.name, summary: "", invalidReason: TOO_LARGE_TEXT };
  });
}

/** Builds the digest of a call, with the facts that the policy needs. */
async function buildCallDigest(
  call: ToolCallContent,
  tools: readonly Tool[],
  permissions: PermissionPolicy,
  workspace: string,
  plan: OutputPlan | undefined,
): Promise<CallDigest> {
  if (isFinalCall(plan, call.name)) return { id: call.id, name: call.name, summary: "", isFinal: true };
  const { digest, runs } = parseCall(call, tools);
  if (runs === undefined) return digest;
  const facts = await collectFacts(runs.tool, runs.value, permissions, workspace);
  return facts === undefined ? digest : { ...digest, facts };
}

/**
 * Returns whether an answer announces a tool call that it could have made and did not make (IRON-10). The text stays
 * in the activity; the machine gets only the verdict.
 *
 * @param tools - The number of tools that the model could call.
 */
export function announcesMissingCall(
  { content, stopReason }: AssistantMessage,
  { nudges }: Pick<AgentDefinition, "nudges">,
  tools: number,
): boolean {
  if (!nudges.enabled || tools === 0 || stopReason !== "stop") return false;
  if (content.some(({ type }) => type === "toolCall")) return false;
  return announcesToolCall(joinText(content));
}
