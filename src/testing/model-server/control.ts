import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { readBody } from "./read-body.ts";
import type { ModelServer } from "./server.ts";

const Named = z.strictObject({ name: z.string() });

/** Handles control requests of other processes: `/__requests`, `/__release`, `/__hold`, `/__script`, `/__reset`. */
export async function handleControl(
  server: ModelServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://127.0.0.1");
  const text = (await readBody(request)).toString("utf8");
  const respond = (status: number, value: unknown) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  };
  try {
    switch (`${request.method} ${url.pathname}`) {
      case "GET /__requests":
        return respond(200, buildSnapshot(server, url.searchParams.has("bodies")));
      case "POST /__release":
        server.release(Named.parse(JSON.parse(text)).name);
        return respond(200, {});
      case "POST /__hold":
        server.hold(Named.parse(JSON.parse(text)).name);
        return respond(200, {});
      case "POST /__script":
        server.script(JSON.parse(text));
        return respond(200, {});
      case "POST /__reset":
        server.reset();
        return respond(200, {});
      default:
        return respond(404, { error: `No ${request.method} ${url.pathname} here` });
    }
  } catch (error) {
    respond(400, { error: error instanceof Error ? error.message : String(error) });
  }
}

/** The response of `GET /__requests`. It includes bodies only with `?bodies`. */
export type Snapshot = {
  readonly requests: ModelServer["requests"];
  readonly paid: ReturnType<ModelServer["paid"]>;
  readonly answersPaid: number;
  readonly answersRepaid: number;
};

function buildSnapshot(server: ModelServer, bodies: boolean): Snapshot {
  return {
    requests: bodies ? server.requests : server.requests.map((one) => ({ ...one, body: undefined })),
    paid: server.paid(),
    answersPaid: server.answersPaid(),
    answersRepaid: server.answersRepaid(),
  };
}
