import type { McpAuth } from "../../../../schema/mcp.ts";
import type { ConnectionEvents, McpConnection, RequestOptions } from "../connection.ts";
import { type FetchEvents, type ServerFetch, serverFetch } from "../http/fetch.ts";
import { TokenSource } from "../http/token.ts";
import type { Secrets } from "../references.ts";
import { type ProcessEvents, type ServerCommand, ServerProcess } from "../stdio/server-process.ts";
import { CarefulTransport } from "./careful-transport.ts";
import { connected } from "./client.ts";
import { discoverTokenUrl } from "./discover.ts";
import { HttpTransport } from "./http-transport.ts";
import { SignIn, type SignInOptions } from "./sign-in.ts";
import { SSE_TROUBLE } from "./sse-trouble.ts";
import { StdioTransport } from "./stdio-transport.ts";

// Puts a connection together. Whatever library takes this one's place offers the same two functions.

export type OpenOptions = {
  /** Of this program, as servers are told. */
  readonly version: string;
  readonly sampling: boolean;
  readonly elicitation: boolean;
  readonly events: ConnectionEvents;
};

export type StdioPlace = {
  readonly command: ServerCommand;
  readonly process: Pick<ProcessEvents, "words" | "spawned">;
};

export type HttpPlace = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth?: McpAuth | undefined;
  readonly secrets: Secrets;
  /** A token that was asked for. */
  readonly obtained?: ((secret: string) => void) | undefined;
  /** A person stands by to sign in; `auth` is not looked at then. */
  readonly signIn?: SignInOptions | undefined;
};

/** An answer that has been read to its end may still be on its way through the library. */
const STREAM_GRACE_MS = 100;

export async function openStdio(
  { command, process }: StdioPlace,
  options: OpenOptions,
  request: RequestOptions,
): Promise<McpConnection> {
  const { odd } = options.events;
  const stdio = new StdioTransport((events) => ServerProcess.start(command, { ...process, ...events }), {
    odd,
    noAnswer: (id, why) => transport.fail(id, "protocol", why),
  });
  const transport: CarefulTransport = new CarefulTransport(stdio);
  return await connected(transport, { ...options, how: () => stdio.how }, request);
}

export async function openHttp(
  { url, headers, auth, secrets, signIn, obtained = () => {} }: HttpPlace,
  options: OpenOptions,
  request: RequestOptions,
): Promise<McpConnection> {
  const fetched: FetchEvents = {
    tooMuch: (what) => transport.failAll("protocol", `sent ${what}`),
    streamEnded: (ids, resumable) => {
      if (resumable) return;
      const late = () => {
        for (const id of ids) transport.fail(id, "closed", "ended its answer before it was complete");
      };
      setTimeout(late, STREAM_GRACE_MS).unref();
    },
  };
  // Asked for tokens; its own answers are no messages, and it is given no token.
  const plain: ServerFetch = serverFetch(url, undefined, { streamEnded: () => {}, tooMuch: () => {} });
  const token =
    auth === undefined || signIn !== undefined
      ? undefined
      : new TokenSource({
          auth,
          secrets,
          resource: url.href,
          fetch: plain.fetch,
          discover: (issuer) => discoverTokenUrl(issuer, plain.fetch),
          obtained,
          now: () => Date.now(),
        });
  const asking = serverFetch(url, token, fetched);
  const fetch: ServerFetch = {
    fetch: asking.fetch,
    close: async () => void (await Promise.all([asking.close(), plain.close()])),
  };
  const person = signIn === undefined ? undefined : new SignIn(signIn);
  const transport: CarefulTransport = new CarefulTransport(new HttpTransport(url, headers, fetch, person));
  const { events } = options;
  const odd = (what: string) => {
    if (SSE_TROUBLE.test(what)) transport.failOnly("protocol", `answered with what is no message: ${what}`);
    events.odd(what);
  };
  return await connected(transport, { ...options, events: { ...events, odd }, how: () => "" }, request);
}
