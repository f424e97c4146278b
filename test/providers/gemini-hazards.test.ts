import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { google, vertex } from "../../src/config/vendor-models.ts";
import { GeminiAssembler } from "../../src/models/gemini/gemini-assembler.ts";
import { GoogleGenerativeAi } from "../../src/models/google-generative-ai/google-generative-ai.ts";
import { GoogleVertex } from "../../src/models/google-vertex/google-vertex.ts";
import type { HttpClientOptions } from "../../src/models/http-client.ts";
import { ProviderError } from "../../src/models/provider-error.ts";
import type { AssistantMessage } from "../../src/schema/message.ts";
import {
  catchProviderError,
  context,
  createHttp,
  createRequest,
  encodeSse,
  readAnswer,
} from "./answer-reader.ts";
import { LoopbackServer } from "./loopback-server.ts";

const SECRET = "AIzaSecret0123456789abcdefghijklmnopqrs";
const STREAM = { "content-type": "text/event-stream" };

const cleanup: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of cleanup.splice(0).reverse()) await step();
});

async function serve(reply: Parameters<typeof LoopbackServer.start>[0]): Promise<LoopbackServer> {
  const server = await LoopbackServer.start(reply);
  cleanup.push(async () => await server.stop());
  return server;
}
const serving = (bytes: Buffer) => serve((response) => response.writeHead(200, STREAM).end(bytes));

async function askBoth(url: string, options: HttpClientOptions = {}, signal = new AbortController().signal) {
  const pool = createHttp(options);
  cleanup.push(async () => await pool.close());
  const answers = [
    new GoogleGenerativeAi({ http: pool }).stream(
      createRequest(google("gemini-3-flash", { baseUrl: url }), { apiKey: SECRET }),
      {
        signal,
      },
    ),
    new GoogleVertex({ http: pool }).stream(
      createRequest(vertex("m", { baseUrl: `${url}/v1/projects/p/locations/l` }), { apiKey: SECRET }),
      { signal },
    ),
  ] as const;
  return await Promise.allSettled(answers);
}
async function answers(url: string): Promise<AssistantMessage[]> {
  return (await askBoth(url)).map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}
async function faults(
  url: string,
  options: HttpClientOptions = {},
  signal?: AbortSignal,
): Promise<ProviderError[]> {
  return (await askBoth(url, options, signal)).map((one) => {
    if (one.status === "rejected" && one.reason instanceof ProviderError) return one.reason;
    throw new Error("expected a ProviderError");
  });
}

const piece = (text: string, more: object = {}) => ({
  candidates: [{ content: { role: "model", parts: [{ text }] }, index: 0, ...more }],
});
const USAGE = { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 } };
const EVENTS = [piece("Grüße "), piece("🌍!"), { ...piece("", { finishReason: "STOP" }), ...USAGE }];
const COMPLETE = encodeSse(EVENTS, false);
const text = ({ content }: AssistantMessage) =>
  content.map((part) => (part.type === "text" ? part.text : `<${part.type}>`)).join("");

describe("an unusual but complete stream", () => {
  const shapes: Record<string, Buffer> = {
    plain: COMPLETE,
    "with [DONE]": Buffer.concat([COMPLETE, Buffer.from("data: [DONE]\n\n")]),
    "with each event as a list of one": encodeSse(
      EVENTS.map((event) => [event]),
      false,
    ),
    "with unknown chunks, candidates and parts": encodeSse(
      [
        { news: 1, candidates: null, promptFeedback: {}, error: null },
        {
          candidates: [
            { index: 1, content: { parts: [{ text: "no" }] } },
            { index: 2, finishReason: "SAFETY" },
          ],
        },
        {
          candidates: [{ content: { parts: [null, 7, "x", {}, { thought: true }, { text: 4 }] } }],
        },
        { candidates: [{ content: null }, "x"], usageMetadata: "y", responseId: 4 },
        ...EVENTS,
      ],
      false,
    ),
    "with its end twice": encodeSse([...EVENTS, EVENTS[2]], false),
    "with usage first": encodeSse([USAGE, EVENTS[0], EVENTS[1], piece("", { finishReason: "STOP" })], false),
  };

  test.each(Object.entries(shapes))("%s", async (_name, bytes) => {
    for (const message of await answers((await serving(bytes)).url)) {
      expect(text(message)).toBe("Grüße 🌍!");
      expect(message).toMatchObject({ stopReason: "stop", usage: { input: 5, output: 3, totalTokens: 8 } });
    }
  });

  test("loses nothing if the connection is lost after the stop reason", async () => {
    const server = await serve((response, _received, request) => {
      response.writeHead(200, STREAM).flushHeaders();
      response.write(COMPLETE, () => request.socket.destroy());
    });
    expect((await answers(server.url)).map(text)).toEqual(["Grüße 🌍!", "Grüße 🌍!"]);
  });
});

describe("a stream that breaks", () => {
  const cuts = {
    "in the middle of a character": COMPLETE.indexOf(Buffer.from("🌍")) + 2,
    "in the middle of an event": COMPLETE.indexOf(Buffer.from("finishReason")) + 4,
    "between two events": COMPLETE.indexOf(Buffer.from("\n\n")) + 2,
    "before its first event": 0,
  };

  test.each(Object.entries(cuts))(
    "%s, by an orderly end or a lost connection, is a network fault",
    async (_name, at) => {
      for (const error of await faults((await serving(COMPLETE.subarray(0, at))).url)) {
        expect(error.fault).toBe("network");
        expect(error.message).toMatch(/the stream ended before the answer was complete$/);
      }
      const server = await serve((response, _received, request) => {
        response.writeHead(200, STREAM).flushHeaders();
        response.write(COMPLETE.subarray(0, Math.max(at, 1)), () => request.socket.destroy());
      });
      for (const error of await faults(server.url)) expect(error.fault).toBe("network");
    },
  );

  test("at an event that is not JSON, or by silence beyond the limit, is a network fault", async () => {
    const bytes = Buffer.concat([
      encodeSse(EVENTS.slice(0, 1), false),
      Buffer.from('data: {"candidates": [{"con\n\n'),
    ]);
    for (const error of await faults((await serving(bytes)).url)) {
      expect(error).toMatchObject({ fault: "network", message: expect.stringContaining("not JSON") });
    }
    const silent = await serve((response) => response.writeHead(200, STREAM).write(COMPLETE.subarray(0, 40)));
    for (const error of await faults(silent.url, { bodyTimeoutMs: 60 })) {
      expect(error).toMatchObject({ fault: "network", message: expect.stringContaining("silent for 60 ms") });
    }
    const stopped = await faults(silent.url, {}, AbortSignal.timeout(30));
    expect(stopped.map(({ fault }) => fault)).toEqual(["cancelled", "cancelled"]);
  });

  test("with an error has the vendor's fault, and the key is masked", async () => {
    const error = { code: 503, status: "UNAVAILABLE", message: `The model is overloaded for ${SECRET}.` };
    const server = await serving(encodeSse([EVENTS[0], { error }], false));
    for (const found of await faults(server.url)) {
      expect(found).toMatchObject({ fault: "rate-limited", status: 503, vendorType: "UNAVAILABLE" });
      expect(JSON.stringify([found.message, found.stack])).not.toContain(SECRET);
    }
  });

  test("an unbounded answer is ended at the limit", async () => {
    const much = piece("x".repeat(1024 * 1024));
    for (const error of await faults((await serving(encodeSse(Array(9).fill(much), false))).url)) {
      expect(error).toMatchObject({ fault: "api", message: expect.stringContaining("Holdfast ended it") });
    }
    const calls = Array(300).fill({ functionCall: { name: "t", args: {} } });
    const many = encodeSse([{ candidates: [{ content: { parts: calls } }] }], false);
    for (const error of await faults((await serving(many)).url)) expect(error.message).toContain("257 calls");
  });
});

describe("a response that is not a stream", () => {
  const answering = (status: number, type: string, body: string, headers = {}) =>
    serve((response) => response.writeHead(status, { "content-type": type, ...headers }).end(body));

  test("is reported as a page, a redirect or a complete answer", async () => {
    const page = await answering(200, "text/html", "<html><body>Sign in</body></html>");
    for (const error of await faults(page.url))
      expect(error.message).toContain("an HTML page instead of a stream");
    const moved = await answering(302, "text/html", "", { location: "http://127.0.0.1:9/x" });
    for (const error of await faults(moved.url)) expect(error).toMatchObject({ fault: "api", status: 302 });
    const whole = await answering(200, "application/json", JSON.stringify([EVENTS[2]]));
    for (const error of await faults(whole.url)) expect(error.message).toContain("application/json");
  });

  test("is the vendor's error if it is an error in a list, with any status [OVF-01.2]", async () => {
    const body = JSON.stringify([{ error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "quota" } }]);
    for (const status of [200, 429]) {
      const server = await answering(status, "application/json; charset=UTF-8", body);
      for (const error of await faults(server.url)) {
        expect(error).toMatchObject({ fault: "rate-limited", vendorType: "RESOURCE_EXHAUSTED" });
        expect(error.message).toContain("quota");
      }
    }
  });

  test("the key is sent in a header, not in the address [PROV-20.1]", async () => {
    const server = await serving(COMPLETE);
    await answers(server.url);
    expect(
      server.received.map(({ url, headers }) => [url.includes(SECRET), headers["x-goog-api-key"]]),
    ).toEqual([
      [false, SECRET],
      [false, SECRET],
    ]);
  });

  test("without its key no request is sent", async () => {
    const server = await serving(COMPLETE);
    const pool = createHttp();
    cleanup.push(async () => await pool.close());
    const request = createRequest(google("m", { baseUrl: server.url }), { apiKey: " " });
    const asked = new GoogleGenerativeAi({ http: pool }).stream(request, {
      signal: new AbortController().signal,
    });
    expect(await catchProviderError(asked)).toMatchObject({ fault: "auth" });
    expect(server.received).toEqual([]);
  });
});

test("property: any event gives an answer or a classified error", () => {
  const WORDS = [
    ["candidates", "content", "parts", "text", "thought", "thoughtSignature", "functionCall", "name", "args"],
    [
      "partialArgs",
      "jsonPath",
      "stringValue",
      "willContinue",
      "finishReason",
      "usageMetadata",
      "error",
      "index",
    ],
    ["promptTokenCount", "promptFeedback", "blockReason", "executableCode", "id", "status", "details"],
  ].flat();
  const leaf = fc.oneof(
    fc.constantFrom<unknown>("STOP", "$.a[0].b", "$.a", "$", "", 0, -1, 1e300, true, null, "YQ=="),
    fc.string({ maxLength: 4 }),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 6, depthSize: "medium" },
      leaf,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...WORDS), tie("value"), { maxKeys: 5 }),
    ),
  }));
  const part = fc.oneof(
    value,
    fc.record({ functionCall: value }),
    fc.record({
      functionCall: fc.record({
        partialArgs: fc.array(fc.record({ jsonPath: leaf, stringValue: leaf }), { maxLength: 3 }),
        willContinue: fc.boolean(),
      }),
    }),
  );
  const event = fc.oneof(
    value,
    fc.record({
      candidates: fc.tuple(
        fc.record({ content: fc.record({ parts: fc.array(part, { maxLength: 4 }) }), finishReason: leaf }),
      ),
    }),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 5 }), (events) => {
      try {
        const { message } = readAnswer(
          (given) => new GeminiAssembler(given, (n) => `c-${n}`),
          [encodeSse(events, false)],
        );
        expect(JSON.parse(JSON.stringify(message))).toEqual(message);
        expect(message.provider).toBe(context.provider);
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
      }
    }),
    { numRuns: 3000 },
  );
});
