import { Hono } from "hono";
import { MAX_MESSAGE_BODY_BYTES, readJsonBody } from "./body.ts";
import { type Chat, handleChat, resumeChat } from "./chat.ts";
import { ChatRequest } from "./chat-request.ts";
import { createDrop, describeTarget, type Env } from "./hono-env.ts";
import { buildUiHistory } from "./ui-history.ts";

/** The number of entries of a conversation that a page receives when it opens: the newest. */
const HISTORY_ENTRIES = 500;

/** Serves sessions as chats of the AI SDK. */
export function createChatRoutes(chat: Chat): Hono<Env> {
  const routes = new Hono<Env>();

  routes.post("/", async (context) => {
    const request = await readJsonBody(context, ChatRequest, MAX_MESSAGE_BODY_BYTES);
    return await handleChat(chat, request, { target: describeTarget(context), drop: createDrop(context) });
  });

  routes.get("/:id", async (context) => {
    const id = context.req.param("id");
    const entries = await chat.holdfast.session(id).messages.list({ last: HISTORY_ENTRIES });
    return context.json({ id, messages: buildUiHistory(entries) });
  });

  routes.get("/:id/stream", async (context) => {
    const caller = { target: describeTarget(context), drop: createDrop(context) };
    return await resumeChat(chat, context.req.param("id"), caller);
  });

  return routes;
}
