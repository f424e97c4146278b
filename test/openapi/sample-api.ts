import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { OpenApiSettings, type OpenApiSettingsInput } from "../../src/schema/openapi.ts";
import type { PinnedTool } from "../../src/schema/tool-source.ts";
import { loadApiText } from "../../src/tools/sources/openapi/load-api.ts";
import { createOpenApiTool } from "../../src/tools/sources/openapi/open-api-tool.ts";
import { Sender } from "../../src/tools/sources/openapi/sender.ts";
import type { ToolOutput } from "../../src/tools/tool-execution.ts";

export const FILE = "file:///work/api.yaml";

export const createSettings = (overrides: Partial<OpenApiSettingsInput> = {}) =>
  OpenApiSettings.parse({ name: "api", spec: "api.yaml", ...overrides });

/** An OpenAPI 3.1 document with these paths. */
export function createDocument(paths: object, overrides: object = {}): object {
  return {
    openapi: "3.1.0",
    info: { title: "Test", version: "1" },
    servers: [{ url: "https://api.example.com/v1/" }],
    paths,
    ...overrides,
  };
}

export const parseDocument = (
  document: object | string,
  overrides: Partial<OpenApiSettingsInput> = {},
  address = FILE,
) =>
  loadApiText(
    typeof document === "string" ? document : JSON.stringify(document),
    address,
    createSettings(overrides),
  );

/** The tools of a document that contains only paths. */
export async function buildTools(paths: object, overrides: Partial<OpenApiSettingsInput> = {}) {
  return (await parseDocument(createDocument(paths), overrides)).tools;
}

export type ReceivedRequest = {
  readonly method: string;
  /** The path and query as received. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

export type ApiHandler = (seen: ReceivedRequest, response: ServerResponse) => void;

/** A server on this machine that records its requests. */
export async function startApi(answer: ApiHandler = (_, response) => response.end("ok")) {
  const received: ReceivedRequest[] = [];
  let answering = answer;
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const one = { method, url, headers, body };
      received.push(one);
      answering(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen: received,
    answer: (next: ApiHandler) => {
      answering = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const sender = new Sender();

/** Calls a tool as the loop does: parses the arguments, then executes the call. */
export async function callTool(
  tool: PinnedTool | undefined,
  values: unknown,
  secrets: Readonly<Record<string, string>> = {},
  signal = new AbortController().signal,
): Promise<ToolOutput> {
  if (tool === undefined) throw new Error("there is no such tool");
  const made = createOpenApiTool(tool, { secrets: (name) => secrets[name], sender });
  const parsed = made.parse(values);
  if (!parsed.ok) throw new Error(parsed.message);
  return await made.execute(parsed.value, { signal, idempotencyKey: "key-1" } as never);
}

export function getText({ content }: ToolOutput): string {
  return content.map((part) => (part.type === "text" ? part.text : `(${part.mimeType})`)).join("\n");
}
