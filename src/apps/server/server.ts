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
  /** How long a client may take to send a request's head; 10 seconds by default. */
  readonly headersMs?: number;
};

export type Server = {
  readonly url: string;
  readonly port: number;
  /** The address of the codec for the Temporal UI. The key in it grants access to the codec only. */
  readonly codecUrl: string | undefined;
  /** The number of open streams. */
  readonly streams: number;
  /** Accepts no more requests, ends the streams so that clients reconnect, and lets responses in progress complete. */
  close(): Promise<void>;
};

/** A slower client occupies a connection for nothing. */
const HEADERS_MS = 10_000;
/** How often Node checks for slow connections; its default is every 30 s. */
const CONNECTION_CHECK_MS = 1_000;
/** For a body of the largest size over a slow connection. */
const REQUEST_MS = 60_000;
const MAX_HEADER_BYTES = 16 * 1024;
/** Connections in addition to the streams. */
const SPARE_CONNECTIONS = 256;
/** For requests in progress when the server closes. */
const DRAIN_MS = 5_000;

/** @throws {Error} The system's error if the port is not available. */
export async function serve(options: ServeOptions): Promise<Server> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const streams = new OpenStreams(limits, options.reportError);
  const token = new Token(options.token);
  const app = createApp({ ...options, token, streams });
  const listener = getRequestListener(app.fetch, {
    // The process's own Request and Response stay unchanged.
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
  // For example when the process has no more descriptors: one connection is lost, the others are not.
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

/** Formats the host for a URL. A server that listens on all addresses is reached at the loopback address. */
function formatHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
