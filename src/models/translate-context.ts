import type { Content, Message } from "../schema/message.ts";

// The rules by which a conversation is translated for another vendor (XLAT-03), as a function for applications. The
// adapters follow the same rules by themselves.

const TAKES_THINKING_AS_TEXT: ReadonlySet<string> = new Set([
  "openai_completions",
  "openai_responses",
  "azure_openai_responses",
]);

/**
 * Returns the messages with the answers of other vendors in a form that the target can read: their thinking becomes text
 * for OpenAI's protocols and is left out for the others, and their opaque tokens are left out. Everything else is
 * unchanged. The given messages are not modified.
 */
export function translateContext(
  messages: readonly Message[],
  {
    protocol,
    provider,
  }: {
    /** The protocol of the target, such as `anthropic_messages`. */
    readonly protocol: string;
    /** The vendor of the target, as its answers name it. */
    readonly provider: string;
  },
): readonly Message[] {
  return messages.map((message) =>
    message.role !== "assistant" || message.provider === provider
      ? message
      : { ...message, content: message.content.flatMap((part) => translatePart(part, protocol)) },
  );
}

function translatePart(part: Content, protocol: string): readonly Content[] {
  switch (part.type) {
    case "thinking":
      return TAKES_THINKING_AS_TEXT.has(protocol) && part.thinking.trim() !== ""
        ? [{ type: "text", text: `[Reasoning] ${part.thinking}` }]
        : [];
    case "vendor":
      return [];
    case "text": {
      const { signature: _, ...rest } = part;
      return [rest];
    }
    case "toolCall": {
      const { signature: _, vendorId: __, ...rest } = part;
      return [rest];
    }
    case "image":
    case "file":
      return [part];
  }
}
