import type { IncomingHttpHeaders } from "node:http";
import { Loopback } from "./loopback.ts";

export type Sent = {
  readonly method: string;
  /** With its query, without the host. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON. */
  readonly body: unknown;
};

/** What somebody sends first, told by a server that refuses it. */
export async function sentBy(ask: (url: string) => Promise<unknown>): Promise<Sent> {
  const server = await Loopback.start((response) =>
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"seen"}}'),
  );
  await ask(server.url).catch(() => undefined);
  await server.stop();
  const [received] = server.received;
  if (received === undefined) throw new Error("nothing was sent");
  const { method, url, headers, body } = received;
  return { method, url, headers, body: JSON.parse(body) as unknown };
}
