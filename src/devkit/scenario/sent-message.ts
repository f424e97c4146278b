import { maskVariableText } from "./events.ts";

/** One block of a request, as the model reads it. */
export type SentMessage =
  | { readonly role: "user" | "assistant"; readonly text: string }
  | { readonly role: "assistant"; readonly thinking: string }
  | { readonly role: "assistant"; readonly call: { id: string; name: string; arguments: unknown } }
  | { readonly role: "tool"; readonly call: string; readonly text: string; readonly isError: boolean };

type Block = {
  readonly type: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: unknown;
  readonly is_error?: boolean;
};

/** Parses the messages of a request body of Anthropic's protocol, block by block. */
export function parseSentMessages(body: Readonly<Record<string, unknown>>): SentMessage[] {
  const messages = (body["messages"] ?? []) as { role: "user" | "assistant"; content: unknown }[];
  return messages.flatMap(({ role, content }) =>
    toBlocks(content).map((block) => parseSentMessage(role, block)),
  );
}

/** Returns the names of the tools in the request. */
export function listToolNames(body: Readonly<Record<string, unknown>>): readonly string[] {
  return ((body["tools"] ?? []) as { name: string }[]).map(({ name }) => name);
}

function toBlocks(content: unknown): readonly Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : ((content ?? []) as Block[]);
}

function parseSentMessage(role: "user" | "assistant", block: Block): SentMessage {
  switch (block.type) {
    case "tool_use":
      return {
        role: "assistant",
        call: { id: block.id ?? "", name: block.name ?? "", arguments: block.input },
      };
    case "tool_result":
      return {
        role: "tool",
        call: block.tool_use_id ?? "",
        text: maskVariableText(
          toBlocks(block.content)
            .map(({ text }) => text ?? "")
            .join(""),
        ),
        isError: block.is_error === true,
      };
    case "thinking":
      return { role: "assistant", thinking: block.thinking ?? "" };
    default:
      return { role, text: maskVariableText(block.text ?? `(${block.type})`) };
  }
}

export function formatSentMessage(message: SentMessage): string {
  if (message.role === "tool") return `result${message.isError ? "!" : ""} ${message.call}: ${message.text}`;
  if ("call" in message)
    return `assistant calls ${message.call.name} ${JSON.stringify(message.call.arguments)}`;
  if ("thinking" in message) return `assistant thinks: ${message.thinking}`;
  return `${message.role}: ${message.text}`;
}
