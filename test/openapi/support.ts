import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { OpenApiSettings, type OpenApiSettingsInput } from "../../src/schema/openapi.ts";
import type { PinnedTool } from "../../src/schema/outside.ts";
import { loadText } from "../../src/tools/sources/openapi/load.ts";
import { Sender } from "../../src/tools/sources/openapi/send.ts";
import { openApiTool } from "../../src/tools/sources/openapi/tool.ts";
import type { ToolOutput } from "../../src/tools/tool.ts";

export const FILE = "file:///work/api.yaml";

export const settings = (more: Partial<OpenApiSettingsInput> = {}) =>
  OpenApiSettings.parse({ name: "api", spec: "api.yaml", ...more });

/** A document of OpenAPI 3.1 around paths. */
export function documentOf(paths: object, more: object = {}): object {
  return {
    openapi: "3.1.0",
    info: { title: "Test", version: "1" },
    servers: [{ url: "https://api.example.com/v1/" }],
    paths,
    ...more,
  };
}

export const read = (document: object | string, more: Partial<OpenApiSettingsInput> = {}, address = FILE) =>
  loadText(typeof document === "string" ? document : JSON.stringify(document), address, settings(more));

/** The tools of a document that has nothing but paths. */
export async function toolsOf(paths: object, more: Partial<OpenApiSettingsInput> = {}) {
  return (await read(documentOf(paths), more)).tools;
}

export type Seen = {
  readonly method: string;
  /** As it came: path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

export type Answering = (seen: Seen, response: ServerResponse) => void;

/** A server on this machine that remembers what it was asked. */
export async function startApi(answer: Answering = (_, response) => response.end("ok")) {
  const seen: Seen[] = [];
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
      seen.push(one);
      answering(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    answer: (next: Answering) => {
      answering = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const sender = new Sender();

/** Calls a tool as the loop does: what the arguments mean, then the call. */
export async function call(
  tool: PinnedTool | undefined,
  values: unknown,
  secrets: Readonly<Record<string, string>> = {},
  signal = new AbortController().signal,
): Promise<ToolOutput> {
  if (tool === undefined) throw new Error("there is no such tool");
  const made = openApiTool(tool, { secrets: (name) => secrets[name], sender });
  const parsed = made.parse(values);
  if (!parsed.ok) throw new Error(parsed.message);
  return await made.execute(parsed.value, { signal, idempotencyKey: "key-1" } as never);
}

export function textOf({ content }: ToolOutput): string {
  return content.map((part) => (part.type === "text" ? part.text : `(${part.mimeType})`)).join("\n");
}
