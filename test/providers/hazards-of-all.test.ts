import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import type { HttpOptions } from "../../src/providers/http.ts";
import { AssistantMessage } from "../../src/schema/message.ts";
import { bytes, HAZARD_WIRES, type HazardWire, SAID, type Said } from "./hazards/index.ts";
import { Loopback, writeSlices } from "./loopback.ts";
import { faultOf, http, question } from "./play.ts";
import { randomSlices, singleBytes } from "./slices.ts";

// What a stream can do to an adapter: the same for every protocol, each with its own frames.

const cleanup: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of cleanup.splice(0).reverse()) await step();
});

type Reply = (response: ServerResponse, socket: Socket) => unknown;

describe.each(HAZARD_WIRES)("$protocol", (wire: HazardWire) => {
  async function ask(url: string, options: HttpOptions = {}) {
    const pool = http(options);
    cleanup.push(async () => await pool.close());
    return await wire
      .make(pool)
      .stream(question(wire.model(url), { apiKey: "AKIAREPLAYED:secret-0123456789" }), {
        signal: new AbortController().signal,
      });
  }

  async function served(reply: Reply): Promise<string> {
    const server = await Loopback.start((response, _, request) => reply(response, request.socket));
    cleanup.push(async () => await server.stop());
    return server.url;
  }

  const type = { "content-type": wire.contentType };
  const answered = async (slices: readonly Uint8Array[], headers: Record<string, string> = {}) =>
    await ask(
      await served((response) => writeSlices(response.writeHead(200, { ...type, ...headers }), slices)),
    );
  const faulted = async (slices: readonly Uint8Array[]) => await faultOf(answered(slices));
  const frames = (said: Said = SAID) => wire.frames(said);
  const joined = (list: readonly Uint8Array[] = frames()) => Buffer.concat(list);

  const expected = (said: Said = SAID) => [
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
  const expectWhole = (message: AssistantMessage, said: Said = SAID) => {
    expect(() => AssistantMessage.parse(message)).not.toThrow();
    expect(message.content.map((part) => ({ ...part, signature: undefined }))).toMatchObject(expected(said));
    expect(message.stopReason).toBe((said.calls ?? []).length > 0 ? "toolUse" : "stop");
    const ids = message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []));
    expect(new Set(ids).size).toBe(ids.length);
  };

  describe("says the same", () => {
    test("whole, byte by byte, and in slices of any size", async () => {
      for (const slices of [
        [joined()],
        singleBytes(joined()),
        randomSlices(joined(), 1),
        randomSlices(joined(), 2),
      ]) {
        const message = await answered(slices);
        expectWhole(message);
        expect(message.usage).toMatchObject({ input: 5, output: 3, totalTokens: 8 });
      }
    });

    test("with thinking", async () => {
      const said = { thinking: "Let me see: ä🌍…", text: "So." };
      const { content } = await answered(frames(said));
      expect(content[0]).toMatchObject({ type: "thinking", thinking: said.thinking });
      expect(content[1]).toMatchObject({ type: "text", text: said.text });
    });

    test("with events of tomorrow, and with what keeps the line open, between all frames", async () => {
      for (const between of [wire.unknown, wire.ping ?? wire.unknown]) {
        expectWhole(await answered(frames().flatMap((frame, at) => (at === 0 ? [frame] : [between, frame]))));
      }
    });

    test("with its end given twice, and with more behind it", async () => {
      const last = frames().slice(-1);
      expectWhole(await answered([...frames(), ...last]));
      expectWhole(await answered([...frames(), ...last, wire.unknown, ...frames().slice(0, 2)]));
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
    ] as const)("compressed as %s, although nobody asked", async (encoding, compress) => {
      expectWhole(await answered(randomSlices(compress(joined()), 3), { "content-encoding": encoding }));
    });

    test("over a connection that ends without a length", async () => {
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

    test.runIf(wire.isText)(
      "with other line ends, a mark at its beginning, comments and unknown fields",
      async () => {
        const text = joined().toString("utf8");
        const shapes = [
          text.replaceAll("\n", "\r\n"),
          text.replaceAll("\n", "\r"),
          `\ufeff${text}`,
          `: hello\n\nid: 4\nretry: 9\nodd: x\n${text}`,
          text.replaceAll("data: ", "data:"),
        ];
        for (const shape of shapes) {
          expectWhole(await answered([bytes(shape)]));
          expectWhole(await answered(randomSlices(bytes(shape), 4)));
        }
      },
    );
  });

  describe("arguments", () => {
    const call = (...pieces: string[]): Said => ({ calls: [{ id: "call_1", name: "read", pieces }] });
    const long = JSON.stringify({
      list: Array.from({ length: 400 }, (_, at) => `ä${at}`),
      deep: [[[{ a: null }]]],
    });

    test("in hundreds of pieces", async () => {
      const pieces = Array.from(long);
      expect(pieces.length).toBeGreaterThan(500);
      expectWhole(await answered([joined(frames(call(...pieces)))]), call(...pieces));
    });

    test("of nothing are none", async () => {
      for (const said of [call(), call(""), call("{}")]) expectWhole(await answered(frames(said)), said);
    });

    test.runIf(wire.rawArguments)("that are no JSON, or no object, stay as they came", async () => {
      const asked = async (text: string) => (await answered(frames(call(...Array.from(text))))).content[0];
      expect(await asked('{"path": "a')).toMatchObject({ arguments: '{"path": "a' });
      expect(await asked("not json")).toMatchObject({ arguments: "not json" });
      expect(await asked("[1,2]")).toMatchObject({ arguments: [1, 2] });
    });
  });

  describe("is a fault", () => {
    test("when the vendor breaks off, wherever it does", async () => {
      const all = frames();
      for (let at = 0; at < all.length - wire.optionalFrames; at += 3) {
        const error = await faulted([...all.slice(0, at), wire.rateLimit]);
        expect([at, error.fault]).toEqual([at, "rate-limited"]);
        expect(error.message).toContain("slow down");
      }
    });

    test("when frames are missing at the end, all that count", async () => {
      const all = frames();
      for (let at = 0; at <= all.length; at += 1) {
        const cut = all.slice(0, at);
        if (at >= all.length - wire.optionalFrames) expectWhole(await answered(cut));
        else expect([at, (await faulted(cut)).fault]).toEqual([at, "network"]);
      }
    });

    test("when it is cut in the middle of anything", async () => {
      const whole = joined();
      const needed = Buffer.concat(frames().slice(0, frames().length - wire.optionalFrames)).length;
      for (let at = 1; at < needed - 4; at += 97) {
        expect([at, (await faulted([whole.subarray(0, at)])).fault]).toEqual([at, "network"]);
      }
    });

    test("when the connection is lost, and when what is compressed is cut", async () => {
      const lost = await served((response, socket) => {
        response.writeHead(200, type).flushHeaders();
        response.write(joined().subarray(0, 60), () => socket.destroy());
      });
      expect((await faultOf(ask(lost))).fault).toBe("network");
      const zipped = gzipSync(joined());
      const cut = await served((response) =>
        response
          .writeHead(200, { ...type, "content-encoding": "gzip" })
          .end(zipped.subarray(0, zipped.length / 2)),
      );
      expect((await faultOf(ask(cut))).fault).toBe("network");
    });

    test("when it is silent for longer than the limit, before its head and in its middle", async () => {
      const never = await served(() => {});
      expect(await faultOf(ask(never, { firstByteTimeoutMs: 50 }))).toMatchObject({ fault: "network" });
      const stops = await served((response) => response.writeHead(200, type).write(joined().subarray(0, 60)));
      const error = await faultOf(ask(stops, { silenceTimeoutMs: 50 }));
      expect(error).toMatchObject({ fault: "network" });
      expect(error.message).toContain("silent for 50 ms");
    });

    test("when it is a page, nothing, or another kind of answer", async () => {
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
        expect(await faultOf(ask(url))).toMatchObject(fault);
      }
    });

    test("when it is a redirect: the key goes nowhere", async () => {
      const asked: string[] = [];
      const target = await served((response) => {
        asked.push("target");
        response.writeHead(200, type).end(joined());
      });
      const url = await served((response) => response.writeHead(307, { location: target }).end());
      expect(await faultOf(ask(url))).toMatchObject({ fault: "api", status: 307 });
      expect(asked).toEqual([]);
    });
  });

  test("bytes that are no text, within an answer, neither crash nor hang it", async () => {
    const whole = joined();
    for (let at = 5; at < whole.length; at += 41) {
      const spoiled = Buffer.from(whole);
      spoiled[at] = 0xff;
      const outcome = await answered([spoiled]).catch((error: unknown) => error);
      if (!(outcome instanceof Error)) expect(() => AssistantMessage.parse(outcome)).not.toThrow();
      else expect(outcome.name).toBe("ProviderError");
    }
  });

  test("an answer of a megabyte arrives whole", async () => {
    const said = { text: "🌍 and more. ".repeat(80_000) };
    expectWhole(await answered(randomSlices(joined(frames(said)), 7, 200_000)), said);
  });
});
