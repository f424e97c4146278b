import fc from "fast-check";
import { expect, test } from "vitest";
import type { Http } from "../../src/providers/http.ts";
import { ProviderError } from "../../src/providers/provider-error.ts";
import type { Message } from "../../src/schema/message.ts";
import { Protocol } from "../../src/schema/model.ts";
import { readQuestion } from "../../src/testing/model-server/question.ts";
import { question } from "./play.ts";
import { type Spoken, spoken } from "./translation/conversations.ts";
import { VENDORS } from "./translation/vendors.ts";

// One record, asked of any vendor after any other.

/** The request that a vendor would get. */
async function asked(protocol: Protocol, messages: readonly Message[]) {
  const vendor = VENDORS[protocol];
  let sent: { url: string; headers: Record<string, string>; body: string } | undefined;
  const http = {
    open: async (call: NonNullable<typeof sent>) => {
      sent = call;
      throw new ProviderError("api", "seen");
    },
  } as unknown as Http;
  const request = question(vendor.model, { apiKey: "bearer-0123456789", messages });
  const outcome = await vendor
    .make(http)
    .stream(request, { signal: new AbortController().signal })
    .catch((error: unknown) => error);
  if (sent === undefined) throw new Error(`${protocol} was not asked`, { cause: outcome });
  const body = JSON.parse(sent.body) as Record<string, unknown>;
  const named = vendor.inPath ? { model: vendor.model.id, stream: true } : undefined;
  const path = new URL(sent.url).pathname;
  return {
    text: sent.body,
    // What the vendor's cache would find again, piece by piece.
    pieces: vendor.pieces(body).map((piece) => JSON.stringify(piece)),
    objection: vendor.objection(
      readQuestion(vendor.speaks, body, sent.headers, sent.body.length, named, path),
    ),
  };
}

function frozen<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

const chains = fc.array(fc.constantFrom(...Protocol.options), { minLength: 1, maxLength: 8 });
const RUNS = { numRuns: 200 };

test("property: through any chain of vendors the record stays, nobody refuses it, and each gets again what it got [XLAT-01, XLAT-04]", async () => {
  await fc.assert(
    fc.asyncProperty(spoken, chains, async ({ messages, points }, chain) => {
      const before = JSON.stringify(messages);
      frozen(messages);
      const got = new Map<Protocol, readonly string[]>();
      for (const [at, protocol] of chain.entries()) {
        // The conversation goes on from vendor to vendor; the last is asked with all of it.
        const place = Math.floor(((at + 1) * points.length) / chain.length) - 1;
        const { pieces, objection } = await asked(protocol, messages.slice(0, points[Math.max(0, place)]));
        expect([protocol, objection]).toEqual([protocol, undefined]);
        const earlier = got.get(protocol) ?? [];
        expect(pieces.slice(0, earlier.length)).toEqual(earlier);
        got.set(protocol, pieces);
      }
      expect(JSON.stringify(messages)).toBe(before);
    }),
    RUNS,
  );
});

test("property: an opaque token goes back to the vendor that made it, and to no other [XLAT-01, TYP-02]", async () => {
  await fc.assert(
    fc.asyncProperty(spoken, fc.constantFrom(...Protocol.options), async ({ messages, said }, protocol) => {
      const { text } = await asked(protocol, messages);
      for (const { by, sent, tokens } of said)
        for (const token of tokens)
          expect([by, token, text.includes(token)]).toEqual([by, token, sent && by === protocol]);
    }),
    RUNS,
  );
});

const AS_TEXT: ReadonlySet<Protocol> = new Set([
  "openai_completions",
  "openai_responses",
  "azure_openai_responses",
]);

test("property: what another vendor thought is text to OpenAI's protocols and nothing to the others; the rest stays [XLAT-02, XLAT-03]", async () => {
  // Two protocols of one vendor, under one name, are foreign to each other as well.
  const isForeign = ({ by }: Spoken, protocol: Protocol) => by !== protocol;
  await fc.assert(
    fc.asyncProperty(spoken, fc.constantFrom(...Protocol.options), async ({ messages, said }, protocol) => {
      const { text } = await asked(protocol, messages);
      for (const one of said) {
        for (const words of one.texts) expect([words, text.includes(words)]).toEqual([words, one.sent]);
        if (!isForeign(one, protocol)) continue;
        for (const thought of one.thoughts) {
          expect([protocol, thought, text.includes(`[Reasoning] ${thought}`)]).toEqual([
            protocol,
            thought,
            one.sent && AS_TEXT.has(protocol),
          ]);
          if (!AS_TEXT.has(protocol)) expect(text).not.toContain(thought);
        }
      }
    }),
    RUNS,
  );
});
