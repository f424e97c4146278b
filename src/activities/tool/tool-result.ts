import type { ToolDigest } from "../../core/machine/state/digest.ts";
import { estimateMessage } from "../../core/view/estimate.ts";
import type { Mask } from "../../models/secret-masks.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { AgentMessage, ToolCallContent, ToolResultMessage, TurnId } from "../../schema/message.ts";
import { joinText } from "../../schema/message-text.ts";
import type { SandboxReport } from "../../schema/sandbox.ts";
import type { LoopEnding } from "../../tools/tool-execution.ts";
import { boundOutput } from "./bound-output.ts";
import type { Execution } from "./execution.ts";

const PREVIEW_BYTES = 256;
/** With the "..." of a cut, 512. */
const REASON_BYTES = 509;

/** Builds what is stored of an ended call, and its digest for the machine. The store fills in the branch. */
export function buildToolResult(
  call: ToolCallContent,
  { output: rawOutput, isError, outcomeUnknown, sandbox }: Execution,
  { turnId, mask, atMs }: { turnId: TurnId; mask: Mask; atMs: number },
): { readonly message: ToolResultMessage; readonly digest: ToolDigest } {
  const output = boundOutput(rawOutput, mask);
  const child = omitUndefined({ childLoopId: output.childLoopId });
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: [...output.content],
    isError,
    ...omitUndefined({ details: output.details, sandbox: maskReport(sandbox, mask) }),
    ...child,
    timestamp: atMs,
    turnId,
  };
  const shown = joinText(output.content);
  const digest: ToolDigest = {
    branch: "",
    isError,
    tokens: estimateMessage(message),
    preview: redactPreview(shown, PREVIEW_BYTES),
    ...(outcomeUnknown ? { outcomeUnknown } : {}),
    ...child,
    ...(output.endsLoop === undefined || isError ? {} : { endsLoop: boundEnding(output.endsLoop) }),
  };
  return { message, digest };
}

/** Names of hosts and files come from the command, which may have read a secret. */
function maskReport(report: SandboxReport | undefined, mask: Mask): SandboxReport | undefined {
  return (
    report && {
      ...report,
      ...(report.connections && {
        connections: report.connections.map((one) => ({
          ...one,
          ...(one.host === undefined ? {} : { host: mask(one.host) }),
        })),
      }),
      ...(report.moved && {
        moved: report.moved.map(({ path, movedTo }) => ({ path: mask(path), movedTo: mask(movedTo) })),
      }),
    }
  );
}

function boundEnding({ type, reason }: LoopEnding): LoopEnding {
  return { type, reason: redactPreview(reason, REASON_BYTES) };
}

/** Finds a call of an answer, with the arguments that a user has substituted. */
export function findCall(
  answer: AgentMessage | undefined,
  index: number,
  changed?: Readonly<Record<string, unknown>>,
): ToolCallContent | undefined {
  const calls = answer?.role === "assistant" ? answer.content.filter((part) => part.type === "toolCall") : [];
  const call = calls[index];
  return call === undefined || changed === undefined ? call : { ...call, arguments: { ...changed } };
}
