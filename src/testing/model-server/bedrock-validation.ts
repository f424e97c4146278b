import { getMessages, type ModelServerRequest } from "./request.ts";

type Block = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
type Message = { readonly role: unknown; readonly content: readonly Block[] };

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const ID = /^[a-zA-Z0-9_.:-]{1,64}$/;

/** Returns the Converse API's own error text for a request; undefined for a valid one. */
export function validateBedrockRequest(question: ModelServerRequest): string | undefined {
  const { body } = question;
  if (question.headers["authorization"] === undefined) return "Missing Authentication Token";
  const messages = getMessages(body).map(
    ({ role, content }): Message => ({ role, content: Array.isArray(content) ? (content as Block[]) : [] }),
  );
  if (messages[0]?.role !== "user")
    return "A conversation must start with a user message. Try again with a conversation that starts with a user message.";
  let open: readonly string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === messages[index - 1]?.role)
      return "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.";
    const objection = validateBlocks(message, index) ?? validateResults(message, index, open);
    if (objection !== undefined) return objection;
    open = message.role === "assistant" ? listIds(message, "toolUse") : [];
  }
  if (open.length > 0) return formatMissingResults(messages.length, open);
  return validateTools(body["toolConfig"], messages);
}

function validateBlocks({ content }: Message, index: number): string | undefined {
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

/** Checks the results in a message; `open` contains the tool calls of the previous message. */
function validateResults(message: Message, index: number, open: readonly string[]): string | undefined {
  const results = listIds(message, "toolResult");
  if (results.length > open.length)
    return `The number of toolResult blocks at messages.${index}.content exceeds the number of toolUse blocks of previous turn.`;
  const missing = open.filter((id) => !results.includes(id));
  return missing.length > 0 ? formatMissingResults(index, missing) : undefined;
}

function formatMissingResults(index: number, ids: readonly string[]): string {
  return `Expected toolResult blocks at messages.${index}.content for the following Ids: ${ids.join(", ")}`;
}

function validateTools(config: unknown, messages: readonly Message[]): string | undefined {
  const used = messages.some(
    (message) => listIds(message, "toolUse").length > 0 || listIds(message, "toolResult").length > 0,
  );
  if (config !== undefined || !used) return undefined;
  return "The toolConfig field must be defined when using toolUse and toolResult content blocks.";
}

/** Calls and results of the vendor's own tools have a type, and need no results from the client. */
function listIds({ content }: Message, kind: string): string[] {
  return content.flatMap((block) => {
    const one = block[kind];
    return one === undefined || one["type"] !== undefined ? [] : [String(one["toolUseId"])];
  });
}
