import { Hono } from "hono";
import type { Holdfast, Session } from "../../client/index.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { MAX_MESSAGE_BODY_BYTES, readJsonBody } from "./body.ts";
import { streamEvents } from "./event-stream.ts";
import { createDrop, describeTarget, type Env } from "./hono-env.ts";
import type { OpenStreams } from "./open-streams.ts";
import { parseQuery } from "./parse-query.ts";
import { ServerProblem } from "./problem.ts";
import { toPrompt, toPromptParts } from "./prompt-schema.ts";
import {
  AnswerBody,
  ApproveBody,
  CompactBody,
  DeleteQuery,
  DenyBody,
  EventsQuery,
  ForkBody,
  ListQuery,
  MessageBody,
  MessagesQuery,
  PromptBody,
  RewindBody,
  SendBody,
  StartBody,
  StopBody,
  TitleBody,
} from "./request-schemas.ts";
import { createNoAgentProblem, overrideModel, type ServedAgents, selectAgent } from "./served-agents.ts";

/** The characters of a cursor; anything else is not one. */
const CURSOR = /^[\w.-]{1,2000}$/;
const DEFAULT_ACTOR = "an HTTP client";

/** Serves sessions as JSON: the client's functions under addresses. */
export function createSessionRoutes(
  holdfast: Holdfast,
  streams: OpenStreams,
  agents: ServedAgents,
): Hono<Env> {
  const routes = new Hono<Env>();
  const session = (id: string): Session => holdfast.session(id);

  routes.get("/", async (context) => {
    const { status, agent, limit } = parseQuery(ListQuery, context.req.query());
    const { sessions } = await holdfast.sessions.list({
      children: true,
      ...omitUndefined({ status, agent, limit }),
    });
    return context.json({ sessions });
  });

  routes.post("/", async (context) => {
    const body = await readJsonBody(context, StartBody, MAX_MESSAGE_BODY_BYTES);
    const { agent: choice, model, prompt: given, ...rest } = body;
    const agent = overrideModel(agents, selectAgent(agents, choice), model);
    if (agent === undefined) throw createNoAgentProblem(agents);
    const prompt = Array.isArray(given) ? toPromptParts(given) : given;
    const started = await holdfast.start({ ...omitUndefined({ ...rest, prompt }), agent });
    context.header("location", `/v1/sessions/${encodeURIComponent(started.id)}`);
    return context.json({ session: started.id, runId: started.runId }, 201);
  });

  routes.get("/:id", async (context) => context.json(await session(context.req.param("id")).status()));

  routes.delete("/:id", async (context) => {
    const { stop, history } = parseQuery(DeleteQuery, context.req.query());
    const options = { stop: stop === "true", history: history === "true" };
    return context.json(await session(context.req.param("id")).delete(options));
  });

  routes.put("/:id/title", async (context) => {
    const { title } = await readJsonBody(context, TitleBody);
    const one = session(context.req.param("id"));
    return context.json({ session: one.id, title: await one.setTitle(title) });
  });

  routes.get("/:id/messages", async (context) => {
    const { limit, ...rest } = parseQuery(MessagesQuery, context.req.query());
    // One more than requested shows whether there are more.
    const found = await session(context.req.param("id")).messages.list({
      ...omitUndefined(rest),
      limit: limit + 1,
    });
    const messages = found.slice(0, limit);
    return context.json({ messages, next: found[limit]?.position ?? null });
  });

  routes.get("/:id/events", async (context) => {
    // A client without an event id may send an empty one.
    const from = context.req.header("last-event-id") || parseQuery(EventsQuery, context.req.query()).from;
    if (from !== undefined && !CURSOR.test(from)) {
      throw new ServerProblem(
        "cursor-invalid",
        "The cursor is not valid. Send an event id from this server, or `from=loop`, `session` or `now`.",
      );
    }
    return await streamEvents(holdfast, streams, {
      session: context.req.param("id"),
      from,
      target: describeTarget(context),
      drop: createDrop(context),
    });
  });

  routes.post("/:id/prompt", async (context) => {
    const body = await readJsonBody(context, PromptBody, MAX_MESSAGE_BODY_BYTES);
    const { text, parts, agent, ...rest } = body;
    const named = agent === undefined ? {} : { agent: selectAgent(agents, agent) };
    return context.json(
      await session(context.req.param("id")).prompt(
        toPrompt({ text, parts }),
        omitUndefined({ ...rest, ...named }),
      ),
      202,
    );
  });

  routes.post("/:id/send", async (context) => {
    const body = await readJsonBody(context, SendBody, MAX_MESSAGE_BODY_BYTES);
    const { text, parts, agent, ...rest } = body;
    const named = agent === undefined ? {} : { agent: selectAgent(agents, agent) };
    return context.json(
      await session(context.req.param("id")).send(
        toPrompt({ text, parts }),
        omitUndefined({ ...rest, ...named }),
      ),
      202,
    );
  });

  for (const [path, verb] of [
    ["steer", "steer"],
    ["follow-up", "followUp"],
  ] as const) {
    routes.post(`/:id/${path}`, async (context) => {
      const body = await readJsonBody(context, MessageBody, MAX_MESSAGE_BODY_BYTES);
      const { text, parts, ...rest } = body;
      const one = session(context.req.param("id"));
      // A message starts a run that puts it into the inbox: a mistyped id must not create a session.
      const { open } = await one.status();
      const sent = await one[verb](toPrompt({ text, parts }), omitUndefined(rest));
      return context.json({ session: one.id, open, ...sent }, 202);
    });
  }

  routes.post("/:id/stop", async (context) => {
    const { reason } = await readJsonBody(context, StopBody);
    const one = session(context.req.param("id"));
    return context.json({ session: one.id, open: await one.stop(reason) }, 202);
  });

  routes.post("/:id/fork", async (context) => {
    const options = await readJsonBody(context, ForkBody);
    const forked = await session(context.req.param("id")).branches.fork(omitUndefined(options));
    context.header("location", `/v1/sessions/${encodeURIComponent(forked.session)}`);
    return context.json(forked, 201);
  });

  routes.post("/:id/rewind", async (context) => {
    const to = omitUndefined(await readJsonBody(context, RewindBody));
    return context.json(await session(context.req.param("id")).branches.rewind({ to }));
  });

  routes.post("/:id/compact", async (context) => {
    const options = await readJsonBody(context, CompactBody);
    const one = session(context.req.param("id"));
    const compacted = await one.compact(omitUndefined(options));
    return context.json({ session: one.id, ...compacted }, compacted.by === "removal" ? 200 : 202);
  });

  routes.get("/:id/approvals", async (context) => {
    return context.json({ approvals: await session(context.req.param("id")).approvals.list() });
  });

  routes.post("/:id/approve", async (context) => {
    const { toolCallId, by = DEFAULT_ACTOR, ...rest } = await readJsonBody(context, ApproveBody);
    return context.json(
      await session(context.req.param("id")).approvals.approve(toolCallId, omitUndefined({ ...rest, by })),
    );
  });

  routes.post("/:id/answer", async (context) => {
    const { toolCallId, by = DEFAULT_ACTOR, ...rest } = await readJsonBody(context, AnswerBody);
    return context.json(
      await session(context.req.param("id")).approvals.answer(toolCallId, omitUndefined({ ...rest, by })),
    );
  });

  routes.post("/:id/deny", async (context) => {
    const { toolCallId, by = DEFAULT_ACTOR, ...rest } = await readJsonBody(context, DenyBody);
    return context.json(
      await session(context.req.param("id")).approvals.deny(toolCallId, omitUndefined({ ...rest, by })),
    );
  });

  return routes;
}
