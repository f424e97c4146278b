import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type ReceivedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};
type Message = { readonly id?: number; readonly method?: string; readonly params?: Record<string, unknown> };

/** A hand-made server of streamable HTTP on loopback: one function answers all requests. */
export class HttpServer {
  readonly received: ReceivedRequest[] = [];
  readonly #server: Server;
  origin = "";

  private constructor(answer: (request: ReceivedRequest, response: ServerResponse) => unknown) {
    this.#server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => {
        const { method = "", url = "", headers } = request;
        const seen = { method, path: url, headers, body };
        this.received.push(seen);
        void answer(seen, response);
      });
    });
  }

  static async start(
    answer: (request: ReceivedRequest, response: ServerResponse) => unknown,
  ): Promise<HttpServer> {
    const made = new HttpServer(answer);
    await new Promise<void>((resolve) => made.#server.listen(0, "127.0.0.1", resolve));
    made.origin = `http://127.0.0.1:${(made.#server.address() as AddressInfo).port}`;
    return made;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

export const parseMessage = ({ body }: ReceivedRequest): Message =>
  body === "" ? {} : (JSON.parse(body) as Message);

export function writeJson(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: object = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

/** Answers the requests of the handshake; returns false for anything else. */
export function answerHandshake(
  request: ReceivedRequest,
  response: ServerResponse,
  headers: object = {},
): boolean {
  const { id, method, params } = parseMessage(request);
  if (request.method === "GET" || request.method === "DELETE") response.writeHead(405).end();
  else if (method === "initialize") {
    const result = {
      protocolVersion: params?.["protocolVersion"],
      capabilities: { tools: {} },
      serverInfo: { name: "by-hand", version: "1" },
    };
    writeJson(response, { jsonrpc: "2.0", id, result }, 200, headers);
  } else if (id === undefined) response.writeHead(202).end();
  else if (method === "tools/list") {
    const tools = [{ name: "ok", inputSchema: { type: "object" } }];
    writeJson(response, { jsonrpc: "2.0", id, result: { tools } });
  } else return false;
  return true;
}

export const createTextResult = (id: number | undefined, text = "fine") => ({
  jsonrpc: "2.0",
  id,
  result: { content: [{ type: "text", text }] },
});
