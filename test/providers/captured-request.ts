import type { IncomingHttpHeaders } from "node:http";
import { LoopbackServer } from "./loopback-server.ts";

export type CapturedRequest = {
  readonly method: string;
  /** With its query, without the host. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON. */
  readonly body: unknown;
};

/** The first request of a client, captured by a server that rejects it. */
export async function captureRequest(ask: (url: string) => Promise<unknown>): Promise<CapturedRequest> {
  const server = await LoopbackServer.start((response) =>
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"seen"}}'),
  );
  await ask(server.url).catch(() => undefined);
  await server.stop();
  const [received] = server.received;
  if (received === undefined) throw new Error("nothing was sent");
  const { method, url, headers, body } = received;
  return { method, url, headers, body: JSON.parse(body) as unknown };
}
