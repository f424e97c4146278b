import type { MiddlewareHandler } from "hono";
import { ServerProblem } from "./problem.ts";
import type { Token } from "./token.ts";

// Who may send requests. The Host header rejects a page that reaches this server under its own name (DNS rebinding), the
// Origin header rejects a page of another origin, and the token rejects everyone else.

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];
/** Not real names: any name may lead to these addresses. */
const WILDCARD_ADDRESSES = ["0.0.0.0", "::", "[::]"];

/** How long a browser may cache a preflight response. */
const PREFLIGHT_SECONDS = 600;

export type GuardOptions = {
  /** The address that the server listens on. */
  readonly host: string;
  /** Further names under which clients may reach the server. */
  readonly allowHosts: readonly string[];
  /** Origins whose pages may send requests; none by default. */
  readonly allowOrigins: readonly string[];
};

/** Compares names without ports: a tunnel has its own port, and a rebound name does not change. */
export function createHostGuard({ host, allowHosts }: GuardOptions): MiddlewareHandler {
  const isOpen = WILDCARD_ADDRESSES.includes(host) && allowHosts.length === 0;
  const names = new Set(
    [...LOOPBACK_NAMES, bracketIpv6(host), ...allowHosts].map((name) => name.toLowerCase()),
  );
  return async (context, next) => {
    const given = getHostName(context.req.header("host") ?? "");
    if (given === "" || (!isOpen && !names.has(given))) {
      throw new ServerProblem(
        "host-not-allowed",
        `The request's Host is "${given}", which is not a name of this server. Use ${host}, or start the server with ` +
          "--allow-host NAME if clients reach it under another name.",
      );
    }
    await next();
  };
}

/** Answers preflight requests, which carry no token. */
export function createOriginGuard({ allowOrigins }: GuardOptions): MiddlewareHandler {
  const allowed = new Set(allowOrigins.map((origin) => origin.toLowerCase()));
  return async (context, next) => {
    const origin = context.req.header("origin");
    if (origin === undefined) return await next();
    if (!allowed.has(origin.toLowerCase())) {
      throw new ServerProblem(
        "origin-not-allowed",
        `Pages of ${origin} may not send requests to this server. To allow them, start it with --allow-origin ${origin}.`,
      );
    }
    context.header("access-control-allow-origin", origin);
    context.header("vary", "Origin");
    context.header("access-control-expose-headers", "content-type, location, x-vercel-ai-ui-message-stream");
    if (
      context.req.method !== "OPTIONS" ||
      context.req.header("access-control-request-method") === undefined
    ) {
      return await next();
    }
    context.header("access-control-allow-methods", "GET, POST, PUT, PATCH, DELETE");
    const headers = context.req.header("access-control-request-headers");
    if (headers !== undefined) context.header("access-control-allow-headers", headers);
    context.header("access-control-max-age", `${PREFLIGHT_SECONDS}`);
    if (context.req.header("access-control-request-private-network") === "true") {
      context.header("access-control-allow-private-network", "true");
    }
    return context.body(null, 204);
  };
}

export function createTokenGuard(token: Token): MiddlewareHandler {
  return async (context, next) => {
    const given = context.req.header("authorization");
    if (given === undefined) {
      throw new ServerProblem(
        "token-missing",
        "The request has no token. Send the header `Authorization: Bearer TOKEN`, with the token that " +
          "`holdfast serve` printed or received.",
      );
    }
    const [scheme = "", secret = ""] = given.split(/ +/);
    if (scheme.toLowerCase() !== "bearer" || !token.matches(secret)) {
      throw new ServerProblem(
        "token-invalid",
        "The token is not this server's token. Each start without --token-env or --token-file creates a new one.",
      );
    }
    await next();
  };
}

function getHostName(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, "");
}

function bracketIpv6(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
