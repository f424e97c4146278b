import fc from "fast-check";
import { expect, test } from "vitest";
import { translateContext } from "../../src/models/translate-context.ts";
import type { Message } from "../../src/schema/message.ts";
import { Protocol } from "../../src/schema/model.ts";
import { isThorough, thoroughTest } from "../support/test-depth.ts";
import { type AnswerRecord, anyConversation } from "./translation/conversations.ts";
import { checkTypes } from "./translation/sdk-types.ts";
import { anySettings, translateRequest } from "./translation/translated-request.ts";
import { VENDORS } from "./translation/vendors.ts";

// One record, sent to any vendor after any other.

function frozen<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

const chains = fc.array(fc.constantFrom(...Protocol.options), { minLength: 1, maxLength: 8 });
const RUNS = { numRuns: isThorough ? 200 : 20 };

test("property: through any sequence of vendors the record is unchanged, no vendor rejects it, and each receives its earlier part again [XLAT-01.1-3, XLAT-04]", async () => {
  await fc.assert(
    fc.asyncProperty(
      anyConversation,
      chains,
      anySettings,
      async ({ messages, questionPositions }, chain, way) => {
        const before = JSON.stringify(messages);
        frozen(messages);
        const got = new Map<Protocol, readonly string[]>();
        for (const [at, protocol] of chain.entries()) {
          // The conversation moves from vendor to vendor; the last one receives all of it.
          const place = Math.floor(((at + 1) * questionPositions.length) / chain.length) - 1;
          const { pieces, objection } = await translateRequest(
            protocol,
            messages.slice(0, questionPositions[Math.max(0, place)]),
            way,
          );
          expect([protocol, objection]).toEqual([protocol, undefined]);
          const earlier = got.get(protocol) ?? [];
          expect(pieces.slice(0, earlier.length)).toEqual(earlier);
          got.set(protocol, pieces);
        }
        expect(JSON.stringify(messages)).toBe(before);
      },
    ),
    RUNS,
  );
});

test("property: an opaque token is sent back to the vendor that issued it, and to no other [XLAT-01.2, TYP-02.1-3]", async () => {
  await fc.assert(
    fc.asyncProperty(
      anyConversation,
      fc.constantFrom(...Protocol.options),
      async ({ messages, answers }, protocol) => {
        const { text } = await translateRequest(protocol, messages);
        for (const { protocol: by, isSent, tokens } of answers)
          for (const token of tokens)
            expect([by, token, text.includes(token)]).toEqual([by, token, isSent && by === protocol]);
      },
    ),
    RUNS,
  );
});

const AS_TEXT: ReadonlySet<Protocol> = new Set([
  "openai_completions",
  "openai_responses",
  "azure_openai_responses",
]);

test("property: another vendor's thinking is text for OpenAI's protocols and left out for the others; its text stays [XLAT-03.2-4]", async () => {
  // Two protocols of one vendor, under one name, are foreign to each other too.
  const isForeign = ({ protocol: by }: AnswerRecord, protocol: Protocol) => by !== protocol;
  await fc.assert(
    fc.asyncProperty(
      anyConversation,
      fc.constantFrom(...Protocol.options),
      async ({ messages, answers }, protocol) => {
        const { text } = await translateRequest(protocol, messages);
        for (const one of answers) {
          for (const words of one.texts) expect([words, text.includes(words)]).toEqual([words, one.isSent]);
          if (!isForeign(one, protocol)) continue;
          for (const thought of one.thoughts) {
            expect([protocol, thought, text.includes(`[Reasoning] ${thought}`)]).toEqual([
              protocol,
              thought,
              one.isSent && AS_TEXT.has(protocol),
            ]);
            if (!AS_TEXT.has(protocol)) expect(text).not.toContain(thought);
          }
        }
      },
    ),
    RUNS,
  );
});

test("property: the rules as a function give the request that the adapters make by themselves, and change no message [XLAT-01.1, XLAT-02]", async () => {
  await fc.assert(
    fc.asyncProperty(
      anyConversation,
      fc.constantFrom(...Protocol.options),
      anySettings,
      async ({ messages }, protocol, way) => {
        const before = JSON.stringify(messages);
        frozen(messages);
        const { provider } = VENDORS[protocol].model;
        const translated = translateContext(messages, { protocol, provider });
        const own = await translateRequest(protocol, translated, { ...way, isTranslated: true });
        const adapters = await translateRequest(protocol, messages, way);
        expect([protocol, own.body]).toEqual([protocol, adapters.body]);
        expect(own.objection).toBeUndefined();
        expect(JSON.stringify(messages)).toBe(before);
      },
    ),
    RUNS,
  );
});

/** The conversation without calls, whose ids follow who made them, as another vendor's. */
const madeBy = (messages: readonly Message[], provider: string): readonly Message[] =>
  messages.flatMap((message): readonly Message[] => {
    if (message.role === "toolResult") return [];
    if (message.role === "user") return [message];
    return [{ ...message, provider, content: message.content.filter(({ type }) => type !== "toolCall") }];
  });

test("property: without a translation every message is sent as if the vendor had made it [XLAT-02]", async () => {
  await fc.assert(
    fc.asyncProperty(
      anyConversation,
      fc.constantFrom(...Protocol.options),
      async ({ messages }, protocol) => {
        const { provider } = VENDORS[protocol].model;
        const settings = { systemPrompt: "", tools: [], thinking: "off", isTranslated: true } as const;
        const foreign = await translateRequest(protocol, madeBy(messages, "another"), settings);
        const own = await translateRequest(protocol, madeBy(messages, provider));
        expect([protocol, foreign.body]).toEqual([protocol, own.body]);
      },
    ),
    RUNS,
  );
});

thoroughTest(
  "any vendor, given any earlier messages, receives a request of its SDK's types [XLAT-01.3, PROV-11.1-2, PROV-17.2, PROV-20.4, PROV-24]",
  async () => {
    const stories = fc.sample(fc.tuple(anyConversation, anySettings), { numRuns: 40, seed: 7 });
    const kinds = new Set(
      stories.flatMap(([{ messages }]) =>
        messages.flatMap((message) => message.content.map(({ type }) => type)),
      ),
    );
    expect([...kinds].sort()).toEqual(["image", "text", "thinking", "toolCall", "vendor"]);
    const bodies = Object.fromEntries(
      await Promise.all(
        Protocol.options.map(async (protocol) => [
          protocol,
          await Promise.all(
            stories.map(async ([{ messages }, way]) => {
              const cache = { enabled: true, strategy: "auto" } as const;
              return (await translateRequest(protocol, messages, { ...way, cache })).body;
            }),
          ),
        ]),
      ),
    ) as Record<Protocol, object[]>;
    // Errors that the types must reveal: an extra block, an extra field, a value of another type.
    const spoilt = {
      type: "txt",
      text: "a",
      role: "user",
      toolReslt: {},
      parts: [{ txt: "a" }],
      content: [{ txt: "a" }],
    };
    const spoil = (body: Record<string, unknown>) => {
      const list = ["messages", "input", "contents"].find((name) => Array.isArray(body[name])) as string;
      const said = body[list] as object[];
      return [
        { ...body, [list]: [...said, spoilt] },
        { ...body, brand_new: 1 },
        { ...body, [list]: "hi\u0000".length },
      ];
    };
    const problems = checkTypes(
      Object.fromEntries(
        Protocol.options.map((protocol) => [
          protocol,
          [...bodies[protocol], ...spoil(bodies[protocol][0] as Record<string, unknown>)],
        ]),
      ) as Record<Protocol, object[]>,
    );
    const good = problems.filter(({ index }) => index < stories.length);
    expect(good).toEqual([]);
    const seen = new Map(
      Protocol.options.map((protocol) => [
        protocol,
        problems.filter((one) => one.protocol === protocol).map(({ index }) => index - stories.length),
      ]),
    );
    for (const [protocol, bad] of seen)
      expect([protocol, [...new Set(bad)].sort()]).toEqual([protocol, [0, 1, 2]]);
  },
);
