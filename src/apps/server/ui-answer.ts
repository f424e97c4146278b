import type { AnswerDiff, PartDelta } from "../../client/read/answer-diff.ts";
import type { Content } from "../../schema/message.ts";
import type { UiChunk } from "./ui-chunk.ts";

const CALL_NOT_MADE = "The answer was requested again, and the new one did not make this call.";

type Part = { readonly id: string; readonly type: PartDelta["type"]; readonly toolName: string };

/** The parts of one answer on a page, from their first chunk to their end. */
export class UiAnswer {
  /** The prefix of part ids, so that parts of one message have distinct ids. */
  readonly #name: string;
  #count = 0;
  #parts: readonly Part[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  append({ isReset, deltas }: AnswerDiff): readonly UiChunk[] {
    return [...(isReset ? this.#voidParts() : []), ...deltas.flatMap((piece) => this.#toChunks(piece))];
  }

  /** Completes the answer: texts end, calls receive their arguments, images are added. */
  end(content: readonly Content[]): readonly UiChunk[] {
    const whole = content.flatMap((part): readonly UiChunk[] => {
      if (part.type === "image") {
        return [{ type: "file", url: `data:${part.mimeType};base64,${part.data}`, mediaType: part.mimeType }];
      }
      if (part.type !== "toolCall") return [];
      const { id: toolCallId, name: toolName, arguments: input } = part;
      return [{ type: "tool-input-available", toolCallId, toolName, input, dynamic: true }];
    });
    const ends = this.#parts.flatMap((part) => formatPartEnd(part));
    this.#parts = [];
    return [...ends, ...whole];
  }

  #toChunks({ type, text, index, isFirst, toolCallId = "", toolName = "" }: PartDelta): readonly UiChunk[] {
    if (isFirst) {
      const id = type === "toolCall" ? toolCallId : `${this.#name}.${this.#count++}`;
      this.#parts = [...this.#parts, { id, type, toolName }];
    }
    const id = this.#parts[index]?.id ?? "";
    switch (type) {
      case "text":
        return [
          ...(isFirst ? [{ type: "text-start" as const, id }] : []),
          { type: "text-delta", id, delta: text },
        ];
      case "thinking":
        return [
          ...(isFirst ? [{ type: "reasoning-start" as const, id }] : []),
          { type: "reasoning-delta", id, delta: text },
        ];
      case "toolCall":
        return [
          ...(isFirst
            ? [{ type: "tool-input-start" as const, toolCallId: id, toolName, dynamic: true as const }]
            : []),
          ...(text === ""
            ? []
            : [{ type: "tool-input-delta" as const, toolCallId: id, inputTextDelta: text }]),
        ];
    }
  }

  /** Marks sent parts as void, because the protocol cannot remove them; a page omits marked parts. */
  #voidParts(): readonly UiChunk[] {
    const chunks = this.#parts.flatMap((part) => formatPartEnd(part, true));
    this.#parts = [];
    return chunks;
  }
}

function formatPartEnd({ id, type, toolName }: Part, isVoid = false): readonly UiChunk[] {
  const metadata = isVoid ? { providerMetadata: { holdfast: { discarded: true as const } } } : {};
  switch (type) {
    case "text":
      return [{ type: "text-end", id, ...metadata }];
    case "thinking":
      return [{ type: "reasoning-end", id, ...metadata }];
    case "toolCall":
      if (!isVoid) return [];
      return [
        {
          type: "tool-input-error",
          toolCallId: id,
          toolName,
          input: {},
          errorText: CALL_NOT_MADE,
          dynamic: true,
        },
      ];
  }
}
