import { Hono, type MiddlewareHandler } from "hono";
import type { Holdfast } from "../../client/index.ts";
import { createChatRoutes } from "./chat-routes.ts";
import { type Codec, handleCodec } from "./codec.ts";
import { createEvaluationRoutes } from "./evaluation-routes.ts";
import { createHostGuard, createOriginGuard, createTokenGuard, type GuardOptions } from "./guards.ts";
import { describeTarget, type Env } from "./hono-env.ts";
import type { OpenStreams } from "./open-streams.ts";
import { buildOpenApi } from "./openapi/document.ts";
import { createProblemResponse, isInternalError, ServerProblem, toProblem } from "./problem.ts";
import type { ServedAgents } from "./served-agents.ts";
import { createSessionRoutes } from "./session-routes.ts";
import { StatusReader } from "./status-reader.ts";
import type { Token } from "./token.ts";

export type AppOptions = GuardOptions & {
  readonly holdfast: Holdfast;
  /** The version of Holdfast, for the OpenAPI document. */
  readonly version: string;
  readonly token: Token;
  readonly agents: ServedAgents;
  readonly codec?: Codec | undefined;
  readonly streams: OpenStreams;
  /** Receives internal errors, for the operator of the server. */
  readonly reportError: (error: unknown) => void;
};

const ROUTES =
  "GET /healthz, GET /openapi.json, and under /v1 sessions, chat, evaluations; see docs/serve.md";

/** Creates all routes. The checks run in this order: host, origin, token, route. */
export function createApp(options: AppOptions): Hono<Env> {
  const { holdfast, streams, agents, codec, token, reportError: tell } = options;
  const app = new Hono<Env>();
  app.onError((error, context) => {
    if (isInternalError(error)) tell(error);
    const { headers } = context.res;
    const response = createProblemResponse(toProblem(error, describeTarget(context)));
    // A page may read the reason for a rejection if its origin is allowed.
    for (const name of ["access-control-allow-origin", "vary"]) {
      const value = headers.get(name);
      if (value !== null) response.headers.set(name, value);
    }
    return response;
  });
  app.use(createHostGuard(options), createOriginGuard(options));
  app.use("/healthz", createMethodGuard(app));
  app.use("/codec/:key/:way", createMethodGuard(app));
  app.get("/healthz", (context) => context.json({ ok: true }));
  app.use("/openapi.json", createMethodGuard(app));
  app.get("/openapi.json", (context) => context.json(buildOpenApi(options.version)));
  for (const way of ["encode", "decode"] as const) {
    app.post(`/codec/:key/${way}`, async (context) => {
      if (!token.matchesCodecKey(context.req.param("key"))) {
        throw new ServerProblem("token-invalid", "The key in the codec's address is not this server's key.");
      }
      return await handleCodec(context, codec, way, holdfast.namespace);
    });
  }
  app.use(createTokenGuard(token), createMethodGuard(app));
  for (const way of ["encode", "decode"] as const) {
    app.post(`/codec/${way}`, (context) => handleCodec(context, codec, way, holdfast.namespace));
  }
  app.route("/v1/sessions", createSessionRoutes(holdfast, streams, agents));
  app.route("/v1/chat", createChatRoutes({ holdfast, streams, agents, statuses: new StatusReader() }));
  app.route("/v1/evaluations", createEvaluationRoutes(holdfast, streams, agents));
  app.notFound((context) => {
    const { method, path } = context.req;
    throw new ServerProblem("route-unknown", `There is no ${method} ${path}. The routes are ${ROUTES}.`);
  });
  return app;
}

/** Rejects a method that no route at the address has; leaves unknown addresses to others. */
function createMethodGuard(app: Hono<Env>): MiddlewareHandler {
  return async ({ req }, next) => {
    const allow = listMethods(app, req.path);
    if (allow.length > 0 && !allow.includes(req.method)) {
      throw new ServerProblem(
        "method-not-allowed",
        `${req.path} does not support ${req.method}; it supports ${allow.join(" and ")}.`,
        { allow },
      );
    }
    await next();
  };
}

function listMethods(app: Hono<Env>, path: string): readonly string[] {
  const segments = path.split("/");
  const matching = app.routes.filter(({ method, path: route }) => {
    const parts = route.split("/");
    return (
      method !== "ALL" &&
      parts.length === segments.length &&
      parts.every(
        (part, index) => part === segments[index] || (part.startsWith(":") && segments[index] !== ""),
      )
    );
  });
  const methods = matching.map(({ method }) => method);
  return [...new Set(path === "/healthz" || path === "/openapi.json" ? [...methods, "HEAD"] : methods)];
}
