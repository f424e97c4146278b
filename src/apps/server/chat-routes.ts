import { Hono } from "hono";
import { jsonBody } from "./body.ts";
import { answerChat, type Chat, resumeChat } from "./chat.ts";
import { ChatRequest } from "./chat-request.ts";
import { dropOf, type Env, triedBy } from "./env.ts";
import { uiHistory } from "./ui-history.ts";

/** Entries of a conversation that a page is given when it is opened; a page shows the newest. */
const HISTORY_ENTRIES = 500;

/** Sessions as chats of the AI SDK. */
export function chatRoutes(chat: Chat): Hono<Env> {
  const routes = new Hono<Env>();

  routes.post("/", async (context) => {
    const request = await jsonBody(context, ChatRequest);
    return await answerChat(chat, request, { tried: triedBy(context), drop: dropOf(context) });
  });

  routes.get("/:id", async (context) => {
    const id = context.req.param("id");
    const entries = await chat.holdfast.session(id).messages({ last: HISTORY_ENTRIES });
    return context.json({ id, messages: uiHistory(entries) });
  });

  routes.get("/:id/stream", async (context) => {
    const asked = { tried: triedBy(context), drop: dropOf(context) };
    return await resumeChat(chat, context.req.param("id"), asked);
  });

  return routes;
}
