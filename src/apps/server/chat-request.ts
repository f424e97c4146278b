import { z } from "zod";
import type { Prompt } from "../../client/index.ts";
import { getPromptText } from "../../client/prompts/prompt-part.ts";
import { ServerProblem } from "./problem.ts";
import { AgentChoice } from "./request-schemas.ts";
import { fromUiParts } from "./ui-file.ts";

// What a page of the AI SDK sends: DefaultChatTransport's body, with the page's own fields.

const Part = z.looseObject({
  type: z.string().describe("The kind of the part, in the words of the AI SDK."),
});

const UiMessage = z.looseObject({
  id: z
    .string()
    .min(1)
    .max(200)
    .describe("The id of the message. Each id of a user message is accepted once."),
  role: z
    .enum(["system", "user", "assistant"])
    .describe("Who wrote the message. The newest one must not be of `system`."),
  parts: z.array(Part).describe("The parts of the message, in order."),
  metadata: z
    .unknown()
    .optional()
    .describe("For an assistant message: the metadata with which it was received."),
});
type UiMessage = z.infer<typeof UiMessage>;

export const ChatRequest = z.looseObject({
  id: z.string().describe("The id of the chat, which is the session's id."),
  messages: z
    .array(UiMessage)
    .min(1, "a chat needs a message")
    .describe("The messages of the page, the newest one last: only that one is read."),
  trigger: z
    .enum(["submit-message", "regenerate-message"])
    .default("submit-message")
    .describe("Whether the newest message is sent, or an answer is requested anew."),
  messageId: z
    .string()
    .nullish()
    .describe("To regenerate: the id of the answer that is requested anew; the newest one if absent."),
  agent: AgentChoice.optional(),
  mode: z
    .enum(["run", "interactive"])
    .optional()
    .describe(
      "For a session that begins with this message: whether its run ends with the answer, or waits for further prompts.",
    ),
  by: z.string().max(200).optional().describe("Who answers pending calls, for the record."),
});
export type ChatRequest = z.infer<typeof ChatRequest>;

type ApprovalAnswer = {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly approved: boolean;
  readonly reason: string | undefined;
};

/** What the page requests. */
export type ChatIntent =
  | { readonly type: "prompt"; readonly prompt: Prompt; readonly messageId: string }
  /** The message continues with the user's answers to pending calls; the page has seen `seenEvents` of its events. */
  | {
      readonly type: "answers";
      readonly loopId: string;
      readonly seenEvents: number;
      readonly answers: readonly ApprovalAnswer[];
    }
  /** The prompts of a loop are answered again. */
  | { readonly type: "regenerate"; readonly loopId: string | undefined };

export function parseIntent({ messages, trigger, messageId }: ChatRequest): ChatIntent {
  if (trigger === "regenerate-message") return { type: "regenerate", loopId: messageId ?? undefined };
  const last = messages[messages.length - 1] as UiMessage;
  if (last.role === "user") return { type: "prompt", prompt: getPrompt(last), messageId: last.id };
  if (last.role === "assistant") return { type: "answers", loopId: last.id, ...getAnswers(last) };
  throw new ServerProblem(
    "body-invalid",
    "The last message has the role `system`. The system prompt is part of the agent's definition; send a user message.",
  );
}

/** Returns a message of texts as one text. */
function getPrompt({ parts }: UiMessage): Prompt {
  const prompt = fromUiParts(parts);
  return prompt.every(({ type }) => type === "text") ? getPromptText(prompt) : prompt;
}

const Approval = z.looseObject({
  id: z.string(),
  approved: z.boolean(),
  reason: z.string().optional(),
});
const Answered = z.looseObject({
  state: z.literal("approval-responded"),
  toolCallId: z.string(),
  approval: Approval,
});
const Metadata = z.looseObject({ holdfast: z.looseObject({ seenEvents: z.number().int().nonnegative() }) });

function getAnswers({ parts, metadata }: UiMessage): {
  seenEvents: number;
  answers: readonly ApprovalAnswer[];
} {
  const answers = parts.flatMap((part) => {
    const answered = Answered.safeParse(part);
    if (!answered.success) return [];
    const { toolCallId, approval } = answered.data;
    const { id: approvalId, approved, reason } = approval;
    return [{ approvalId, toolCallId, approved, reason }];
  });
  const known = Metadata.safeParse(metadata);
  if (answers.length === 0 || !known.success) {
    throw new ServerProblem(
      "body-invalid",
      "The last message has the role `assistant`. It contains no answer to a pending call (addToolApprovalResponse), or " +
        "has lost its metadata. Send a user message, or the assistant message as it was received.",
    );
  }
  return { seenEvents: known.data.holdfast.seenEvents, answers };
}
