import { formatAttachment, isPdf, isTextFile } from "../core/view/attachment.ts";
import { asFields, type JsonObject } from "../platform/text/json.ts";
import type {
  AssistantMessage,
  Content,
  FileContent,
  ImageContent,
  Message,
  StopReason,
  TextContent,
  ThinkingContent,
  ToolResultMessage,
  VendorContent,
} from "../schema/message.ts";

// Converts stored messages to turns as vendors accept them. History is never edited: this is a copy for one request.
//
// Invariants
//   C1. Every call is followed at once by exactly one result, and every result has its call: vendors reject anything else.
//   C2. The ids of calls are unique and in the vendor's format; a result carries the id of its call.
//   C3. Appending messages only appends turns, as long as every call has its result (caches depend on it).

/** A file is a PDF document: other files are sent as texts. */
export type Part = TextContent | ImageContent | FileContent;
export type CallPart = {
  readonly type: "call";
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  /** Opaque token of the vendor that made the call. */
  readonly signature?: string | undefined;
};
export type ResultPart = {
  readonly callId: string;
  readonly name: string;
  readonly parts: readonly Part[];
  readonly isError: boolean;
};
export type AssistantPart = TextContent | ThinkingContent | VendorContent | CallPart;
export type ConversationTurn =
  | { readonly role: "user"; readonly parts: readonly Part[] }
  /**
   * `isSameProvider`: the current vendor made it, or it counts as if it had: the vendor may receive its opaque tokens.
   * `hasOwnIds`: the ids of its calls are the vendor's. `model` is the model that made it.
   */
  | {
      readonly role: "assistant";
      readonly isSameProvider: boolean;
      readonly hasOwnIds: boolean;
      readonly model: string;
      readonly parts: readonly AssistantPart[];
    }
  | { readonly role: "results"; readonly results: readonly ResultPart[] };

/** The format that a vendor requires for the ids of calls. */
export type CallIdRule = {
  readonly isValid: (id: string, own: boolean) => boolean;
  /** Returns a valid id derived from this one; a different one for each `attempt` (0, 1, …). */
  readonly toValid: (id: string, attempt: number) => string;
};

/**
 * Answers that do not belong to the conversation: a broken answer is unreliable, and a vendor rejects a request that
 * continues a turn that it has refused.
 */
const UNSENT_STOP_REASONS: ReadonlySet<StopReason> = new Set(["error", "aborted", "guardRail"]);

/** For a call without a result in the messages, such as in a history that was cut elsewhere. */
const MISSING_RESULT: Part = { type: "text", text: "No result is known for this call." };

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** @param isTranslated - Every answer counts as the vendor's own; only the ids of calls still follow who made them. */
export function buildConversation(
  messages: readonly Message[],
  provider: string,
  rule: CallIdRule,
  isTranslated?: true | undefined,
): readonly ConversationTurn[] {
  const turns: ConversationTurn[] = [];
  const ids = new WireIdAllocator(rule);
  let open: OpenCalls | undefined;
  for (const message of messages) {
    switch (message.role) {
      case "user": {
        const parts = toParts(message.content);
        if (parts.length > 0) turns.push({ role: "user", parts });
        break;
      }
      case "assistant": {
        if (UNSENT_STOP_REASONS.has(message.stopReason)) break;
        open?.close();
        open = new OpenCalls();
        const hasOwnIds = message.provider === provider;
        const made = { isSameProvider: isTranslated === true || hasOwnIds, hasOwnIds };
        const parts = toAssistantParts(message, made, ids, open);
        turns.push({ role: "assistant", ...made, model: message.model, parts });
        if (open.hasCalls) turns.push({ role: "results", results: open.results });
        break;
      }
      case "toolResult":
        open?.addResult(message);
        break;
    }
  }
  open?.close();
  return turns;
}

/** Drops blank text, which has no content and which Anthropic rejects. Files that are no PDF documents become texts. */
function toParts(content: readonly Content[]): readonly Part[] {
  return content.flatMap((part): readonly Part[] => {
    switch (part.type) {
      case "image":
        return [part];
      case "file":
        return [isPdf(part) ? part : { type: "text", text: formatFileText(part) }];
      case "text":
        return part.text.trim() === "" ? [] : [part];
      default:
        return [];
    }
  });
}

/** Formats a text file for a model: a header with its name, its text, and a line that ends it. */
export function formatFileText(file: FileContent): string {
  if (!isTextFile(file)) return `[The ${formatAttachment(file)} is left out: its type is not supported.]`;
  const text = Buffer.from(file.data, "base64").toString("utf8");
  return `[File ${file.name}, ${file.mimeType}]\n${text}${text.endsWith("\n") ? "" : "\n"}[End of file ${file.name}]`;
}

function toAssistantParts(
  message: AssistantMessage,
  { isSameProvider, hasOwnIds }: { readonly isSameProvider: boolean; readonly hasOwnIds: boolean },
  ids: WireIdAllocator,
  open: OpenCalls,
): readonly AssistantPart[] {
  const parts: AssistantPart[] = [];
  for (const part of message.content) {
    if (part.type === "thinking" || (part.type === "vendor" && isSameProvider)) parts.push(part);
    // Some vendors sign an empty text and require it back.
    const signature = isSameProvider && part.type === "text" && part.signature !== undefined;
    if (part.type === "text" && (part.text.trim() !== "" || signature)) parts.push(part);
    if (part.type !== "toolCall") continue;
    const call: CallPart = {
      type: "call",
      id: ids.next(hasOwnIds ? (part.vendorId ?? part.id) : part.id, hasOwnIds),
      name: toWireName(part.name),
      // Arguments that were not an object failed validation, and the result reports it; the vendor accepts objects only.
      input: asFields(part.arguments),
      ...(isSameProvider && part.signature !== undefined && { signature: part.signature }),
    };
    parts.push(call);
    open.addCall(part.id, call);
  }
  return parts;
}

function toWireName(name: string): string {
  return TOOL_NAME.test(name) ? name : name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unknown";
}

/** Ids are unique within a turn only; the wire requires ids that are unique in the conversation. */
class WireIdAllocator {
  readonly #rule: CallIdRule;
  readonly #taken = new Set<string>();

  constructor(rule: CallIdRule) {
    this.#rule = rule;
  }

  next(id: string, isSameProvider: boolean): string {
    let wire = id;
    if (this.#taken.has(id) || !this.#rule.isValid(id, isSameProvider)) {
      let attempt = 0;
      do {
        wire = this.#rule.toValid(id, attempt);
        attempt += 1;
      } while (this.#taken.has(wire));
    }
    this.#taken.add(wire);
    return wire;
  }
}

/** The calls of one answer that wait for their results. */
class OpenCalls {
  readonly results: ResultPart[] = [];
  readonly #waiting: { readonly id: string; readonly call: CallPart }[] = [];
  hasCalls = false;

  addCall(id: string, call: CallPart): void {
    this.#waiting.push({ id, call });
    this.hasCalls = true;
  }

  addResult(result: ToolResultMessage): void {
    const at = this.#waiting.findIndex(({ id }) => id === result.toolCallId);
    const [found] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (found === undefined) return;
    this.results.push({
      callId: found.call.id,
      name: found.call.name,
      parts: toParts(result.content),
      isError: result.isError,
    });
  }

  close(): void {
    for (const { call } of this.#waiting.splice(0)) {
      this.results.push({ callId: call.id, name: call.name, parts: [MISSING_RESULT], isError: true });
    }
  }
}
