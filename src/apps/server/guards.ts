import type { MiddlewareHandler } from "hono";
import { ServerProblem } from "./problem.ts";
import type { Token } from "./token.ts";

// Who may ask at all: a page that the browser sends here under a name of its own (DNS rebinding) is refused by its Host,
// a page of another origin by its Origin, everybody else by the token.

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];
/** Not names of anything: any name may lead here. */
const WILDCARD_ADDRESSES = ["0.0.0.0", "::", "[::]"];

/** How long a browser need not ask again. */
const PREFLIGHT_SECONDS = 600;

export type GuardOptions = {
  /** Where the server listens. */
  readonly host: string;
  /** Further names under which it may be asked. */
  readonly allowHosts: readonly string[];
  /** Origins of pages that may ask; none unless said. */
  readonly allowOrigins: readonly string[];
};

/** Names are compared without ports: a tunnel has one of its own, a rebound name stays what it is. */
export function createHostGuard({ host, allowHosts }: GuardOptions): MiddlewareHandler {
  const isOpen = WILDCARD_ADDRESSES.includes(host) && allowHosts.length === 0;
  const names = new Set(
    [...LOOPBACK_NAMES, bracketIpv6(host), ...allowHosts].map((name) => name.toLowerCase()),
  );
  return async (context, next) => {
    const given = getHostName(context.req.header("host") ?? "");
    if (given === "" || (!isOpen && !names.has(given))) {
      throw new ServerProblem(
        "host-refused",
        `The server was asked as "${given}", which is none of its names. Ask it as ${host}, or start it with ` +
          "--allow-host NAME where it stands behind another.",
      );
    }
    await next();
  };
}

/** Answers what a browser asks beforehand; that question carries no token. */
export function createOriginGuard({ allowOrigins }: GuardOptions): MiddlewareHandler {
  const allowed = new Set(allowOrigins.map((origin) => origin.toLowerCase()));
  return async (context, next) => {
    const origin = context.req.header("origin");
    if (origin === undefined) return await next();
    if (!allowed.has(origin.toLowerCase())) {
      throw new ServerProblem(
        "origin-refused",
        `Pages of ${origin} may not ask this server. Start it with --allow-origin ${origin} if they should.`,
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
    context.header("access-control-allow-methods", "GET, POST, DELETE");
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
          "`holdfast serve` printed or was given.",
      );
    }
    const [scheme = "", secret = ""] = given.split(/ +/);
    if (scheme.toLowerCase() !== "bearer" || !token.matches(secret)) {
      throw new ServerProblem(
        "token-wrong",
        "The token is not that of this server. Each start without --token-env or --token-file makes a new one.",
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
