import type { McpAuth } from "../../../../schema/mcp.ts";
import { createServerFetch, type FetchEvents, type ServerFetch } from "../http/server-fetch.ts";
import { TokenSource } from "../http/token-source.ts";
import type { ConnectionEvents, McpConnection, RequestOptions } from "../mcp-connection.ts";
import type { SecretSource } from "../secret-references.ts";
import { type ProcessEvents, type ServerCommand, ServerProcess } from "../stdio/server-process.ts";
import { discoverTokenUrl } from "./discover-token-url.ts";
import { HttpTransport } from "./http-transport.ts";
import { RequestTrackingTransport } from "./request-tracking-transport.ts";
import { connectClient } from "./sdk-connection.ts";
import { type SignInOptions, SignInProvider } from "./sign-in-provider.ts";
import { StdioTransport } from "./stdio-transport.ts";

// Assembles a connection. A replacement of this library must provide the same two functions.

export type OpenConnectionOptions = {
  /** The version of this program, as reported to servers. */
  readonly version: string;
  readonly sampling: boolean;
  readonly elicitation: boolean;
  readonly events: ConnectionEvents;
};

export type StdioTarget = {
  readonly command: ServerCommand;
  readonly process: Pick<ProcessEvents, "onStderrLine" | "onSpawned">;
};

export type HttpTarget = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth?: McpAuth | undefined;
  readonly secrets: SecretSource;
  /** Receives a token that was issued. */
  readonly onToken?: ((secret: string) => void) | undefined;
  /** The user can sign in interactively; `auth` is then ignored. */
  readonly signIn?: SignInOptions | undefined;
};

/** An answer that has been read completely may still be passing through the library. */
const STREAM_GRACE_MS = 100;

export async function openStdio(
  { command, process }: StdioTarget,
  options: OpenConnectionOptions,
  request: RequestOptions,
): Promise<McpConnection> {
  const { onProtocolError } = options.events;
  const stdio = new StdioTransport((events) => ServerProcess.start(command, { ...process, ...events }), {
    onProtocolError,
    onInvalidResponse: (id, reason) => transport.fail(id, "protocol", reason),
  });
  const transport: RequestTrackingTransport = new RequestTrackingTransport(stdio);
  return await connectClient(transport, { ...options, describeExit: () => stdio.exit }, request);
}

export async function openHttp(
  { url, headers, auth, secrets, signIn, onToken = () => {} }: HttpTarget,
  options: OpenConnectionOptions,
  request: RequestOptions,
): Promise<McpConnection> {
  const fetchEvents: FetchEvents = {
    onLimitExceeded: (what) => transport.failAll("protocol", `sent ${what}`),
    onStreamEnd: (ids, resumable) => {
      if (resumable) return;
      const failRequests = () => {
        for (const id of ids) transport.fail(id, "closed", "ended its answer before it was complete");
      };
      setTimeout(failRequests, STREAM_GRACE_MS).unref();
    },
  };
  // Used to request tokens. Its answers are not MCP messages, and it sends no token.
  const tokenFetch: ServerFetch = createServerFetch(url, undefined, {
    onStreamEnd: () => {},
    onLimitExceeded: () => {},
  });
  const token =
    auth === undefined || signIn !== undefined
      ? undefined
      : new TokenSource({
          auth,
          secrets,
          resource: url.href,
          fetch: tokenFetch.fetch,
          discoverTokenUrl: (issuer) => discoverTokenUrl(issuer, tokenFetch.fetch),
          onToken,
          now: () => Date.now(),
        });
  const messageFetch = createServerFetch(url, token, fetchEvents);
  const fetch: ServerFetch = {
    fetch: messageFetch.fetch,
    close: async () => void (await Promise.all([messageFetch.close(), tokenFetch.close()])),
  };
  const signInProvider = signIn === undefined ? undefined : new SignInProvider(signIn);
  const transport: RequestTrackingTransport = new RequestTrackingTransport(
    new HttpTransport(url, headers, fetch, signInProvider),
  );
  const { events } = options;
  const onProtocolError = (what: string) => {
    if (SSE_ERROR_PATTERN.test(what)) transport.failOnly("protocol", `sent an invalid message: ${what}`);
    events.onProtocolError(what);
  };
  return await connectClient(
    transport,
    { ...options, events: { ...events, onProtocolError }, describeExit: () => "" },
    request,
  );
}

/** Matches the library's errors about an unreadable event or an abandoned stream. */
const SSE_ERROR_PATTERN =
  /invalid_union|invalid_type|unrecognized_keys|is not valid JSON|in JSON at|Maximum reconnection attempts/;
