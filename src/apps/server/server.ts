import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { AppOptions } from "./app.ts";
import { createApp } from "./app.ts";
import { DEFAULT_LIMITS, OpenStreams, type StreamLimits } from "./open-streams.ts";
import { createProblemResponse, ServerProblem, toProblem } from "./problem.ts";
import { Token } from "./token.ts";

export type ServeOptions = Omit<AppOptions, "streams" | "token"> & {
  readonly port: number;
  readonly token: string;
  readonly limits?: Partial<StreamLimits>;
  /** How long the head of a request may take; 10 seconds unless said. */
  readonly headersMs?: number;
};

export type Server = {
  readonly url: string;
  readonly port: number;
  /** Where the Temporal UI finds the codec: the key in it opens nothing else. */
  readonly codecUrl: string | undefined;
  /** Streams that are open. */
  readonly streams: number;
  /** Takes no more, ends the streams so that clients come back, and lets answers that are under way go out. */
  close(): Promise<void>;
};

/** Who is slower with the head of a request holds a connection for nothing. */
const HEADERS_MS = 10_000;
/** How often Node looks for who is too slow: every 30 s unless said. */
const CONNECTION_CHECK_MS = 1_000;
/** For a body of the largest size over a slow line. */
const REQUEST_MS = 60_000;
const MAX_HEADER_BYTES = 16 * 1024;
/** Connections beside the streams. */
const SPARE_CONNECTIONS = 256;
/** For requests that are under way when the server closes. */
const DRAIN_MS = 5_000;

/** @throws {Error} of the system when the port cannot be had. */
export async function serve(options: ServeOptions): Promise<Server> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const streams = new OpenStreams(limits, options.reportError);
  const token = new Token(options.token);
  const app = createApp({ ...options, token, streams });
  const listener = getRequestListener(app.fetch, {
    // Request and Response of the process stay what they are.
    overrideGlobalObjects: false,
    errorHandler: (error) => {
      const message = error instanceof Error ? error.message : String(error);
      return createProblemResponse(
        toProblem(new ServerProblem("request-invalid", `${message}.`), "a request"),
      );
    },
  });
  const http = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: options.headersMs ?? HEADERS_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: CONNECTION_CHECK_MS,
    },
    (request, response) => void listener(request, response),
  );
  http.maxConnections = limits.maxStreams + SPARE_CONNECTIONS;
  const port = await listen(http, options.host, options.port);
  // As when the process has no more descriptors: one connection is lost, the others are not.
  http.on("error", options.reportError);
  const url = `http://${formatHost(options.host)}:${port}`;
  return {
    url,
    port,
    codecUrl: options.codec === undefined ? undefined : `${url}/codec/${token.codecKey}`,
    get streams() {
      return streams.size;
    },
    close: () => closeServer(http, streams),
  };
}

async function listen(http: HttpServer, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen({ host, port }, () => {
      http.off("error", reject);
      resolve();
    });
  });
  return (http.address() as AddressInfo).port;
}

async function closeServer(http: HttpServer, streams: OpenStreams): Promise<void> {
  const closed = new Promise((resolve) => http.close(resolve));
  await streams.close();
  http.closeIdleConnections();
  const late = setTimeout(() => http.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(late);
}

/** As an address has it; a server that listens everywhere is found here. */
function formatHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
