import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type ReceivedRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The connection on which it arrived, counted from 1. */
  readonly connection: number;
};

type ReplyHandler = (
  response: ServerResponse,
  received: ReceivedRequest,
  request: IncomingMessage,
) => unknown;

/** A real HTTP server on 127.0.0.1 that answers as the test specifies. */
export class LoopbackServer {
  readonly received: ReceivedRequest[] = [];
  readonly url: string;
  readonly #server;
  #connections = 0;
  readonly #waiters: (() => void)[] = [];

  private constructor(server: ReturnType<typeof createServer>, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async start(reply: ReplyHandler): Promise<LoopbackServer> {
    const connections = new WeakMap<object, number>();
    let count = 0;
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const received: ReceivedRequest = {
          method: request.method ?? "",
          url: request.url ?? "",
          headers: request.headers,
          body: Buffer.concat(parts).toString("utf8"),
          connection: connections.get(request.socket) ?? 0,
        };
        loopback.received.push(received);
        void reply(response, received, request);
      });
    });
    server.on("connection", (socket) => {
      count += 1;
      connections.set(socket, count);
      loopback.#connections += 1;
      socket.on("close", () => {
        loopback.#connections -= 1;
        for (const wake of loopback.#waiters.splice(0)) wake();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const loopback = new LoopbackServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return loopback;
  }

  /** Resolves when the client has closed every connection. */
  async waitUntilClosed(): Promise<void> {
    while (this.#connections > 0) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Writes slices one by one, each in a packet of its own as far as the system allows. */
export async function writeSlices(response: ServerResponse, slices: readonly Uint8Array[]): Promise<void> {
  response.socket?.setNoDelay(true);
  for (const slice of slices) {
    if (!response.write(slice)) await new Promise((resolve) => response.once("drain", resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}
