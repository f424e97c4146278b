import type { WireMessage } from "./request.ts";

export type WireItem = { readonly type?: unknown; readonly role?: unknown; readonly [key: string]: unknown };

/** Returns the items of a request to the Responses API. */
export function getItems(input: unknown): readonly WireItem[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  return Array.isArray(input) ? input.filter((item) => typeof item === "object" && item !== null) : [];
}

/** Reports whether the model created the item. A message has a role; other output items of a model do not. */
export function isModelItem({ type, role }: WireItem): boolean {
  return role === "assistant" || (role === undefined && type !== "function_call_output");
}

/** Converts the items to messages as in the other protocols: the items of one model answer become one message. */
export function toResponsesMessages(input: unknown): readonly WireMessage[] {
  const messages: { role: unknown; content: unknown; made?: WireItem[] }[] = [];
  for (const item of getItems(input)) {
    const last = messages.at(-1);
    if (isModelItem(item)) {
      if (last?.made === undefined) {
        const made = [item];
        messages.push({ role: "assistant", content: made, made });
      } else last.made.push(item);
    } else if (item.type === "function_call_output") {
      messages.push({ role: "tool", content: item["output"] });
    } else messages.push({ role: item.role, content: item["content"] });
  }
  return messages;
}
