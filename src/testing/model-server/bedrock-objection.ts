import { messagesOf, type Question } from "./question.ts";

type Block = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
type Message = { readonly role: unknown; readonly content: readonly Block[] };

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const ID = /^[a-zA-Z0-9_.:-]{1,64}$/;

/** What the Converse API says against a request, in its own words; undefined when it has nothing to say. */
export function bedrockObjection(question: Question): string | undefined {
  const { body } = question;
  if (question.headers["authorization"] === undefined) return "Missing Authentication Token";
  const messages = messagesOf(body).map(
    ({ role, content }): Message => ({ role, content: Array.isArray(content) ? (content as Block[]) : [] }),
  );
  if (messages[0]?.role !== "user")
    return "A conversation must start with a user message. Try again with a conversation that starts with a user message.";
  let open: readonly string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === messages[index - 1]?.role)
      return "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.";
    const objection = toBlocks(message, index) ?? toResults(message, index, open);
    if (objection !== undefined) return objection;
    open = message.role === "assistant" ? idsOf(message, "toolUse") : [];
  }
  if (open.length > 0) return withoutResults(messages.length, open);
  return toTools(body["toolConfig"], messages);
}

function toBlocks({ content }: Message, index: number): string | undefined {
  if (content.length === 0)
    return `The content field in the Message object at messages.${index} is empty. Add a ContentBlock object to the content field and try again.`;
  for (const [place, block] of content.entries()) {
    const where = `messages.${index}.content.${place}`;
    if (typeof block["text"] === "string" && (block["text"] as string).trim() === "")
      return `The text field in the ContentBlock object at ${where} is blank. Add text to the text field, and try again.`;
    const use = block["toolUse"];
    if (use !== undefined && !(ID.test(String(use["toolUseId"])) && NAME.test(String(use["name"]))))
      return `1 validation error detected: Value at '${where}.member.toolUse' failed to satisfy constraint`;
    if (use !== undefined && (typeof use["input"] !== "object" || use["input"] === null))
      return `The format of the value at ${where}.toolUse.input is invalid. Provide a json object for the field and try again.`;
  }
  return undefined;
}

/** `open`: the tool calls of the message before. */
function toResults(message: Message, index: number, open: readonly string[]): string | undefined {
  const results = idsOf(message, "toolResult");
  if (results.length > open.length)
    return `The number of toolResult blocks at messages.${index}.content exceeds the number of toolUse blocks of previous turn.`;
  const missing = open.filter((id) => !results.includes(id));
  return missing.length > 0 ? withoutResults(index, missing) : undefined;
}

function withoutResults(index: number, ids: readonly string[]): string {
  return `Expected toolResult blocks at messages.${index}.content for the following Ids: ${ids.join(", ")}`;
}

function toTools(config: unknown, messages: readonly Message[]): string | undefined {
  const used = messages.some(({ content }) =>
    content.some((block) => block["toolUse"] !== undefined || block["toolResult"] !== undefined),
  );
  if (config !== undefined || !used) return undefined;
  return "The toolConfig field must be defined when using toolUse and toolResult content blocks.";
}

function idsOf({ content }: Message, kind: string): string[] {
  return content.flatMap((block) => (block[kind] === undefined ? [] : [String(block[kind]["toolUseId"])]));
}
