import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import type { HttpClientOptions } from "../../src/models/http-client.ts";
import type { ModelDelta } from "../../src/models/provider.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import { AssistantMessage } from "../../src/schema/message.ts";
import { isThorough } from "../support/test-depth.ts";
import { catchProviderError, createHttp, createRequest } from "./answer-reader.ts";
import {
  type AnswerContent,
  addUnknownFields,
  encodeText,
  HAZARD_WIRES,
  type HazardWire,
  SAMPLE_ANSWER,
} from "./hazards/index.ts";
import { LoopbackServer, writeSlices } from "./loopback-server.ts";
import { sliceBytes, sliceRandomly } from "./slices.ts";

// The hazards of a stream for an adapter: the same for every protocol, each with its own frames.

const cleanup: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of cleanup.splice(0).reverse()) await step();
});

type Reply = (response: ServerResponse, socket: Socket, path: string) => unknown;

/** Protocols whose streams are read by the assembler of another one: `npm test` leaves them out. */
const SHARED_ASSEMBLERS = ["azure_openai_responses", "google_vertex"];

const WIRES = HAZARD_WIRES.filter(({ protocol }) => isThorough || !SHARED_ASSEMBLERS.includes(protocol));

describe.each(WIRES)("$protocol [TEST-04]", (wire: HazardWire) => {
  async function ask(url: string, options: HttpClientOptions = {}) {
    const pool = createHttp(options);
    cleanup.push(async () => await pool.close());
    return await wire
      .make(pool)
      .stream(createRequest(wire.model(url), { apiKey: "AKIAREPLAYED:secret-0123456789" }), {
        signal: new AbortController().signal,
      });
  }

  async function served(reply: Reply): Promise<string> {
    const server = await LoopbackServer.start((response, { url }, request) =>
      reply(response, request.socket, url),
    );
    cleanup.push(async () => await server.stop());
    return server.url;
  }

  const type = { "content-type": wire.contentType };
  const answered = async (slices: readonly Uint8Array[], headers: Record<string, string> = {}) =>
    await ask(
      await served((response) => writeSlices(response.writeHead(200, { ...type, ...headers }), slices)),
    );
  const faulted = async (slices: readonly Uint8Array[]) => await catchProviderError(answered(slices));
  const frames = (said: AnswerContent = SAMPLE_ANSWER) => wire.frames(said);
  const joined = (list: readonly Uint8Array[] = frames()) => Buffer.concat(list);

  const expected = (said: AnswerContent = SAMPLE_ANSWER) => [
    ...(said.text === undefined ? [] : [{ type: "text", text: said.text }]),
    ...(said.calls ?? []).map(({ name, pieces }) => {
      const text = pieces.join("");
      return {
        type: "toolCall",
        id: expect.any(String),
        name,
        arguments: text === "" ? {} : JSON.parse(text),
      };
    }),
  ];
  const expectWhole = (message: AssistantMessage, said: AnswerContent = SAMPLE_ANSWER) => {
    expect(() => AssistantMessage.parse(message)).not.toThrow();
    expect(message.content.map((part) => ({ ...part, signature: undefined }))).toMatchObject(expected(said));
    expect(message.stopReason).toBe((said.calls ?? []).length > 0 ? "toolUse" : "stop");
    const ids = message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []));
    expect(new Set(ids).size).toBe(ids.length);
  };

  describe("reads the same answer", () => {
    test("whole, byte by byte, and in slices of any size [RIG-08]", async () => {
      for (const slices of [
        [joined()],
        sliceBytes(joined()),
        sliceRandomly(joined(), 1),
        sliceRandomly(joined(), 2),
      ]) {
        const message = await answered(slices);
        expectWhole(message);
        expect(message.usage).toMatchObject({ input: 5, output: 3, totalTokens: 8 });
      }
    });

    test("with thinking [THK-04.3]", async () => {
      const said = { thinking: "Let me see: ä🌍…", text: "So." };
      const { content } = await answered(frames(said));
      expect(content[0]).toMatchObject({ type: "thinking", thinking: said.thinking });
      expect(content[1]).toMatchObject({ type: "text", text: said.text });
    });

    test("with unknown events and keep-alive events between all frames", async () => {
      for (const between of [wire.unknown, wire.ping ?? wire.unknown]) {
        expectWhole(await answered(frames().flatMap((frame, at) => (at === 0 ? [frame] : [between, frame]))));
      }
    });

    test("with unknown fields in all objects of the vendor's", async () => {
      const wide = frames().map((frame) => wire.rewritten(frame, addUnknownFields));
      expect(
        Buffer.concat(wide)
          .toString("utf8")
          .match(/brand_new/g)?.length,
      ).toBeGreaterThan(wide.length);
      expectWhole(await answered([Buffer.concat(wide)]));
    });

    test("with unknown names, and with names of properties that every JavaScript object has", async () => {
      for (const name of ["brand_new", "constructor", "toString", "__proto__"]) {
        const message = await answered(wire.novel(name));
        expect(AssistantMessage.parse(message)).toMatchObject({ stopReason: "stop" });
        expect(message.content[0]).toMatchObject({ type: "text", text: "So." });
      }
    });

    test("with its end repeated, and with more after it", async () => {
      const last = frames().slice(-1);
      expectWhole(await answered([...frames(), ...last]));
      const more = wire.openEnd ? [] : frames().slice(0, 2);
      expectWhole(await answered([...frames(), ...last, wire.unknown, ...more]));
    });

    test.each(Object.entries(wire.same ?? {}))("%s", async (_, other) => {
      const message = await answered(other);
      expectWhole(message);
      expect(message.usage).toMatchObject({ input: 5, output: 3 });
    });

    test.each([
      ["gzip", gzipSync],
      ["deflate", deflateSync],
      ["br", brotliCompressSync],
    ] as const)("compressed as %s, although compression was not requested", async (encoding, compress) => {
      expectWhole(await answered(sliceRandomly(compress(joined()), 3), { "content-encoding": encoding }));
    });

    test("over a connection without a content length", async () => {
      const server = createServer((socket) => {
        socket.once("data", () => {
          socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${wire.contentType}\r\nconnection: close\r\n\r\n`);
          socket.end(joined());
        });
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      cleanup.push(async () => await new Promise<void>((resolve) => server.close(() => resolve())));
      expectWhole(await ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    });

    if (wire.isText)
      test("with other line endings, a byte order mark, comments and unknown fields", async () => {
        const text = joined().toString("utf8");
        const shapes = [
          text.replaceAll("\n", "\r\n"),
          text.replaceAll("\n", "\r"),
          `\ufeff${text}`,
          `: hello\n\nid: 4\nretry: 9\nodd: x\n${text}`,
          text.replaceAll("data: ", "data:"),
        ];
        for (const shape of shapes) {
          expectWhole(await answered([encodeText(shape)]));
          expectWhole(await answered(sliceRandomly(encodeText(shape), 4)));
        }
      });
  });

  describe("arguments", () => {
    const call = (...pieces: string[]): AnswerContent => ({
      calls: [{ id: "call_1", name: "read", pieces }],
    });
    const long = JSON.stringify({
      list: Array.from({ length: 400 }, (_, at) => `ä${at}`),
      deep: [[[{ a: null }]]],
    });

    test("are read from hundreds of chunks [RIG-08]", async () => {
      const pieces = Array.from(long);
      expect(pieces.length).toBeGreaterThan(500);
      expectWhole(await answered([joined(frames(call(...pieces)))]), call(...pieces));
    });

    test("are an empty object if they are empty", async () => {
      for (const said of [call(), call(""), call("{}")]) expectWhole(await answered(frames(said)), said);
    });

    if (wire.rawArguments)
      test("that are not JSON, or not an object, are unchanged", async () => {
        const asked = async (text: string) => (await answered(frames(call(...Array.from(text))))).content[0];
        expect(await asked('{"path": "a')).toMatchObject({ arguments: '{"path": "a' });
        expect(await asked("not json")).toMatchObject({ arguments: "not json" });
        expect(await asked("[1,2]")).toMatchObject({ arguments: [1, 2] });
      });
  });

  describe("is a fault", () => {
    test("if the vendor reports an error, at any position", async () => {
      const all = frames();
      for (let at = 0; at < all.length - wire.optionalFrames; at += 3) {
        const error = await faulted([...all.slice(0, at), wire.rateLimit]);
        expect([at, error.fault]).toEqual([at, "rate-limited"]);
        expect(error.message).toContain("slow down");
      }
    });

    test("if frames that it needs are missing at the end", async () => {
      const all = frames();
      for (let at = 0; at <= all.length; at += 1) {
        const cut = all.slice(0, at);
        if (at >= all.length - wire.optionalFrames) expectWhole(await answered(cut));
        else expect([at, (await faulted(cut)).fault]).toEqual([at, "network"]);
      }
    });

    test("if it is cut off at any position", async () => {
      const whole = joined();
      const needed = Buffer.concat(frames().slice(0, frames().length - wire.optionalFrames)).length;
      for (let at = 1; at < needed - 4; at += 97) {
        expect([at, (await faulted([whole.subarray(0, at)])).fault]).toEqual([at, "network"]);
      }
    });

    test("if the connection is lost, and if compressed data is cut off", async () => {
      const lost = await served((response, socket) => {
        response.writeHead(200, type).flushHeaders();
        response.write(joined().subarray(0, 60), () => socket.destroy());
      });
      expect((await catchProviderError(ask(lost))).fault).toBe("network");
      const zipped = gzipSync(joined());
      const cut = await served((response) =>
        response
          .writeHead(200, { ...type, "content-encoding": "gzip" })
          .end(zipped.subarray(0, zipped.length / 2)),
      );
      expect((await catchProviderError(ask(cut))).fault).toBe("network");
    });

    test("if it continues with comments, pings or empty chunks and without content", async () => {
      const empty = [wire.unknown, ...(wire.ping === undefined ? [] : [wire.ping])];
      if (wire.isText) empty.push(encodeText(": still here\n\n"));
      for (const piece of empty) {
        const url = await served((response) => {
          response.writeHead(200, type).write(frames()[0]);
          const timer = setInterval(() => response.write(piece), 5);
          response.on("close", () => clearInterval(timer));
        });
        const error = await catchProviderError(ask(url, { stallTimeoutMs: 60 }));
        expect(error.fault).toBe("network");
        expect(error.message).toContain("made no progress for 60 ms");
      }
    });

    test("but not while it makes progress now and then", async () => {
      const slow = await served(async (response) => {
        response.writeHead(200, type);
        for (const frame of frames({ text: "one two three four five six seven eight" })) {
          response.write(frame);
          await delay(25);
          response.write(wire.unknown);
        }
        response.end();
      });
      const { content } = await ask(slow, { stallTimeoutMs: 300 });
      expect(content).toMatchObject([{ text: "one two three four five six seven eight" }]);
    });

    test("if it is silent for longer than the limit, before its head and in the middle", async () => {
      const never = await served(() => {});
      const stops = await served((response) => response.writeHead(200, type).write(joined().subarray(0, 60)));
      const [none, error] = await Promise.all([
        catchProviderError(ask(never, { firstByteTimeoutMs: 50 })),
        catchProviderError(ask(stops, { bodyTimeoutMs: 50 })),
      ]);
      expect(none).toMatchObject({ fault: "network" });
      expect(error).toMatchObject({ fault: "network" });
      expect(error.message).toContain("silent for 50 ms");
    });

    test("if it is a page, empty, or another type of response", async () => {
      const page = "<!DOCTYPE html><html><body><h1>Sign in</h1></body></html>";
      const replies: [number, string, string, object][] = [
        [200, "text/html", page, { fault: "api", status: 200 }],
        [502, "text/html", page, { fault: "api", status: 502 }],
        [200, wire.contentType, "", { fault: "network" }],
        [
          200,
          "application/json",
          '{"error":{"type":"rate_limit_error","message":"no"}}',
          { fault: "rate-limited" },
        ],
        [200, "application/json", "{}", { fault: "api" }],
        [401, "application/json", '{"error":{"message":"no"}}', { fault: "auth", status: 401 }],
        [429, "application/json", "{}", { fault: "rate-limited", status: 429 }],
      ];
      for (const [status, kind, body, fault] of replies) {
        const url = await served((response) =>
          response.writeHead(status, { "content-type": kind }).end(body),
        );
        expect(await catchProviderError(ask(url))).toMatchObject(fault);
      }
    });

    test.each([301, 302, 303, 307, 308])(
      "if it is a redirect, %d: the key is not forwarded",
      async (status) => {
        const asked: string[] = [];
        const target = await served((response) => {
          asked.push("target");
          response.writeHead(200, type).end(joined());
        });
        for (const location of [target, "/elsewhere", undefined]) {
          const url = await served((response, _, path) => {
            asked.push(path.includes("elsewhere") ? "elsewhere" : "first");
            // The complete answer, which must not be accepted.
            response
              .writeHead(status, { ...type, ...(location !== undefined && { location }) })
              .end(joined());
          });
          expect(await catchProviderError(ask(url))).toMatchObject({ fault: "api", status });
        }
        expect(asked).toEqual(["first", "first", "first"]);
      },
    );

    test("if a proxy sends its page in place of the stream, or in the middle of it", async () => {
      const page = encodeText(
        "<!DOCTYPE html>\r\n<html><body><h1>504 Gateway Time-out</h1></body></html>\r\n",
      );
      const begun = frames().slice(0, 4);
      for (const slices of [[page], [...begun, page], [...begun, encodeText("\n\n"), page]])
        expect((await faulted(slices)).fault).toBe("network");
      const url = await served((response) =>
        response.writeHead(403, { "content-type": "text/html" }).end(page),
      );
      expect(await catchProviderError(ask(url))).toMatchObject({ fault: "auth", status: 403 });
    });

    test("if its compression is unknown, or declared but absent", async () => {
      const error = await catchProviderError(answered([joined()], { "content-encoding": "zstd" }));
      expect(error).toMatchObject({ fault: "api" });
      expect((await catchProviderError(answered([joined()], { "content-encoding": "gzip" }))).fault).toBe(
        "network",
      );
    });

    test("if a connection without a content length ends too early", async () => {
      const server = createServer((socket) => {
        socket.once("data", () => {
          socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${wire.contentType}\r\nconnection: close\r\n\r\n`);
          socket.end(joined(frames().slice(0, 4)));
        });
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      cleanup.push(async () => await new Promise<void>((resolve) => server.close(() => resolve())));
      const { port } = server.address() as AddressInfo;
      expect((await catchProviderError(ask(`http://127.0.0.1:${port}`))).fault).toBe("network");
    });
  });

  test("its deltas add up to the message and precede it; it ends with its message or a ProviderError, and at once on a signal [PROV-04.1]", async () => {
    const watched = async (url: string, abortAt = Number.POSITIVE_INFINITY) => {
      const pool = createHttp();
      cleanup.push(async () => await pool.close());
      const provider = wire.make(pool);
      expect(provider.protocol).toBe(wire.protocol);
      const stopped = new AbortController();
      const blocks: string[] = [];
      let pieces = 0;
      let over = false;
      const onDelta = ({ type, index, delta }: ModelDelta) => {
        expect(over).toBe(false);
        blocks[index] = (blocks[index] ?? `${type}:`) + delta;
        pieces += 1;
        if (pieces === abortAt) stopped.abort();
      };
      const asked = createRequest(wire.model(url), { apiKey: "AKIAREPLAYED:secret-0123456789" });
      const outcome = await provider
        .stream(asked, { signal: stopped.signal, onDelta, now: () => 4_000 })
        .catch((error: unknown) => error);
      over = true;
      return { outcome, blocks };
    };
    const said = { ...SAMPLE_ANSWER, thinking: "Let me see." };
    const whole = await watched(
      await served((response) => response.writeHead(200, type).end(joined(frames(said)))),
    );
    const message = AssistantMessage.parse(whole.outcome);
    expect(message).toMatchObject({
      role: "assistant",
      timestamp: 4_000,
      provider: wire.model("http://h").provider,
    });
    expect(whole.blocks).toHaveLength(message.content.length);
    for (const [at, part] of message.content.entries()) {
      const [kind, ...rest] = (whole.blocks[at] ?? "").split(":");
      const text = rest.join(":");
      expect(kind).toBe(part.type);
      if (part.type === "text") expect(text).toBe(part.text);
      if (part.type === "thinking") expect(text).toBe(part.thinking);
      if (part.type === "toolCall") expect(JSON.parse(text || "{}")).toEqual(part.arguments);
    }
    const hangs = await served((response) =>
      response.writeHead(200, type).write(joined(frames(said).slice(0, 6))),
    );
    expect((await watched(hangs, 2)).outcome).toMatchObject({ name: "ProviderError", fault: "cancelled" });
    expect((await watched("http://127.0.0.1:9")).outcome).toMatchObject({
      name: "ProviderError",
      fault: "network",
    });
  });

  test("invalid bytes within an answer neither crash nor block the adapter", async () => {
    const whole = joined();
    for (let at = 5; at < whole.length; at += 41) {
      const spoiled = Buffer.from(whole);
      spoiled[at] = 0xff;
      const outcome = await answered([spoiled]).catch((error: unknown) => error);
      if (!(outcome instanceof Error)) expect(() => AssistantMessage.parse(outcome)).not.toThrow();
      else expect(outcome.name).toBe("ProviderError");
    }
  });

  test("an answer of a megabyte is read completely", async () => {
    const said = { text: "🌍 and more. ".repeat(80_000) };
    expectWhole(await answered(sliceRandomly(joined(frames(said)), 7, 200_000)), said);
  });
});

test("every adapter has an id of its own, which is fixed [PROV-04.2, TEST-10]", () => {
  const ids = ProviderRegistry.createDefault()
    .listProtocols()
    .map((protocol) => [protocol, ProviderRegistry.createDefault().get(protocol)?.id]);
  expect(Object.fromEntries(ids)).toEqual({
    anthropic_messages: "anthropic",
    openai_completions: "openai",
    openai_responses: "openai_responses",
    azure_openai_responses: "azure_openai",
    google_generative_ai: "google",
    google_vertex: "google_vertex",
    bedrock_converse_stream: "bedrock",
  });
  expect(HAZARD_WIRES.map(({ protocol }) => protocol).sort()).toEqual(
    ids.map(([protocol]) => protocol).sort(),
  );
});
