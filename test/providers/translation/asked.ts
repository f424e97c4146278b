import fc from "fast-check";
import type { Http } from "../../../src/models/http.ts";
import type { ModelRequest } from "../../../src/models/provider.ts";
import { ProviderError } from "../../../src/models/provider-error.ts";
import type { Message } from "../../../src/schema/message.ts";
import type { Protocol } from "../../../src/schema/model.ts";
import { readQuestion } from "../../../src/testing/model-server/question.ts";
import { question } from "../play.ts";
import { VENDORS } from "./vendors.ts";

type Way = Pick<ModelRequest, "systemPrompt" | "tools" | "thinking"> & Partial<Pick<ModelRequest, "cache">>;

const READ = {
  name: "read",
  description: "Reads a file",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

/** What a question has beside the conversation. */
export const ways: fc.Arbitrary<Way> = fc.record({
  systemPrompt: fc.constantFrom("", "Be brief."),
  tools: fc.constantFrom([READ], []),
  thinking: fc.constantFrom("off" as const, "low" as const, "high" as const),
});

const PLAIN: Way = { systemPrompt: "", tools: [], thinking: "off" };

/** The request that a vendor would get. */
export async function asked(protocol: Protocol, messages: readonly Message[], way: Way = PLAIN) {
  const vendor = VENDORS[protocol];
  let sent: { url: string; headers: Record<string, string>; body: string } | undefined;
  const http = {
    open: async (call: NonNullable<typeof sent>) => {
      sent = call;
      throw new ProviderError("api", "seen");
    },
  } as unknown as Http;
  const request = question(vendor.model, { apiKey: "bearer-0123456789", messages, ...way });
  const outcome = await vendor
    .make(http)
    .stream(request, { signal: new AbortController().signal })
    .catch((error: unknown) => error);
  if (sent === undefined) throw new Error(`${protocol} was not asked`, { cause: outcome });
  const body = JSON.parse(sent.body) as Record<string, unknown>;
  const named = vendor.inPath ? { model: vendor.model.id, stream: true } : undefined;
  const path = new URL(sent.url).pathname;
  return {
    body,
    text: sent.body,
    // What the vendor's cache would find again, piece by piece.
    pieces: vendor.pieces(body).map((piece) => JSON.stringify(piece)),
    objection: vendor.objection(
      readQuestion(vendor.speaks, body, sent.headers, sent.body.length, named, path),
    ),
  };
}
