import fc from "fast-check";
import type { HttpClient } from "../../../src/models/http-client.ts";
import type { ModelRequest } from "../../../src/models/provider.ts";
import { ProviderError } from "../../../src/models/provider-error.ts";
import type { Message } from "../../../src/schema/message.ts";
import type { Protocol } from "../../../src/schema/model.ts";
import { parseRequest } from "../../../src/testing/model-server/request.ts";
import { createRequest } from "../answer-reader.ts";
import { VENDORS } from "./vendors.ts";

type RequestSettings = Pick<ModelRequest, "systemPrompt" | "tools" | "thinking"> &
  Partial<Pick<ModelRequest, "cache" | "isTranslated" | "textOnly">>;

const READ = {
  name: "read",
  description: "Reads a file",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

/** The parts of a request other than the conversation. */
export const anySettings: fc.Arbitrary<RequestSettings> = fc.record({
  systemPrompt: fc.constantFrom("", "Be brief."),
  tools: fc.constantFrom([READ], []),
  thinking: fc.constantFrom("off" as const, "low" as const, "high" as const),
});

const PLAIN: RequestSettings = { systemPrompt: "", tools: [], thinking: "off" };

/** The request that a vendor would receive. */
export async function translateRequest(
  protocol: Protocol,
  messages: readonly Message[],
  settings: RequestSettings = PLAIN,
) {
  const vendor = VENDORS[protocol];
  let sent: { url: string; headers: Record<string, string>; body: string } | undefined;
  const http = {
    open: async (call: NonNullable<typeof sent>) => {
      sent = call;
      throw new ProviderError("api", "seen");
    },
  } as unknown as HttpClient;
  const request = createRequest(vendor.model, { apiKey: "bearer-0123456789", messages, ...settings });
  const outcome = await vendor
    .make(http)
    .stream(request, { signal: new AbortController().signal })
    .catch((error: unknown) => error);
  if (sent === undefined) throw new Error(`${protocol} was not asked`, { cause: outcome });
  const body = JSON.parse(sent.body) as Record<string, unknown>;
  const modelField = vendor.isModelInPath ? { model: vendor.model.id, stream: true } : undefined;
  const path = new URL(sent.url).pathname;
  return {
    body,
    text: sent.body,
    // What the vendor's cache would match, piece by piece.
    pieces: vendor.pieces(body).map((piece) => JSON.stringify(piece)),
    objection: vendor.validate(
      parseRequest(vendor.protocol, body, sent.headers, sent.body.length, modelField, path),
    ),
  };
}
