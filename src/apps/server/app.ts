import { Hono, type MiddlewareHandler } from "hono";
import type { Holdfast } from "../../client/index.ts";
import type { Agents } from "./agents.ts";
import { chatRoutes } from "./chat-routes.ts";
import { answerCodec, type Codec } from "./codec.ts";
import { type Env, triedBy } from "./env.ts";
import { type GuardOptions, hostGuard, originGuard, tokenGuard } from "./guard.ts";
import { isOurFault, problemOf, problemResponse, ServerProblem } from "./problem.ts";
import { sessionRoutes } from "./session-routes.ts";
import { Statuses } from "./statuses.ts";
import type { Streams } from "./streams.ts";
import type { Token } from "./token.ts";

export type AppOptions = GuardOptions & {
  readonly holdfast: Holdfast;
  readonly token: Token;
  readonly agents: Agents;
  readonly codec?: Codec | undefined;
  readonly streams: Streams;
  /** What broke inside, for whoever runs the server. */
  readonly tell: (error: unknown) => void;
};

const ROUTES = "GET /healthz, and under /v1 sessions, chat; see docs/serve.md";

/** All routes. The order is the order of questions: which name, which page, which token, what. */
export function createApp(options: AppOptions): Hono<Env> {
  const { holdfast, streams, agents, codec, token, tell } = options;
  const app = new Hono<Env>();
  app.onError((error, context) => {
    if (isOurFault(error)) tell(error);
    const { headers } = context.res;
    const response = problemResponse(problemOf(error, triedBy(context)));
    // A page may read why it was refused, where it may ask at all.
    for (const name of ["access-control-allow-origin", "vary"]) {
      const value = headers.get(name);
      if (value !== null) response.headers.set(name, value);
    }
    return response;
  });
  app.use(hostGuard(options), originGuard(options));
  app.use("/healthz", methodGuard(app));
  app.use("/codec/:key/:way", methodGuard(app));
  app.get("/healthz", (context) => context.json({ ok: true }));
  for (const way of ["encode", "decode"] as const) {
    app.post(`/codec/:key/${way}`, async (context) => {
      if (!token.matchesCodecKey(context.req.param("key"))) {
        throw new ServerProblem("token-wrong", "The key in the codec's address is not that of this server.");
      }
      return await answerCodec(context, codec, way, holdfast.namespace);
    });
  }
  app.use(tokenGuard(token), methodGuard(app));
  for (const way of ["encode", "decode"] as const) {
    app.post(`/codec/${way}`, (context) => answerCodec(context, codec, way, holdfast.namespace));
  }
  app.route("/v1/sessions", sessionRoutes(holdfast, streams, agents));
  app.route("/v1/chat", chatRoutes({ holdfast, streams, agents, statuses: new Statuses() }));
  app.notFound((context) => {
    const { method, path } = context.req;
    throw new ServerProblem("route-unknown", `There is no ${method} ${path}. There are ${ROUTES}.`);
  });
  return app;
}

/** Refuses a method that nothing at the address answers; an address that is not there is left to others. */
function methodGuard(app: Hono<Env>): MiddlewareHandler {
  return async ({ req }, next) => {
    const allow = methodsAt(app, req.path);
    if (allow.length > 0 && !allow.includes(req.method)) {
      throw new ServerProblem(
        "method-refused",
        `${req.method} is not a method of ${req.path}: ${allow.join(" and ")} ${allow.length === 1 ? "is" : "are"}.`,
        { allow },
      );
    }
    await next();
  };
}

function methodsAt(app: Hono<Env>, path: string): readonly string[] {
  const given = path.split("/");
  const matching = app.routes.filter(({ method, path: route }) => {
    const parts = route.split("/");
    return (
      method !== "ALL" &&
      parts.length === given.length &&
      parts.every((part, index) => part === given[index] || (part.startsWith(":") && given[index] !== ""))
    );
  });
  const methods = matching.map(({ method }) => method);
  return [...new Set(path === "/healthz" ? [...methods, "HEAD"] : methods)];
}
