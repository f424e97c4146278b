import { afterEach, expect, test } from "vitest";
import type { Payload } from "../../src/apps/server/codec.ts";
import type { Holdfast } from "../../src/client/index.ts";
import { EncryptionCodec } from "../../src/platform/encryption/encryption-codec.ts";
import { KeyRing } from "../../src/platform/encryption/key-ring.ts";
import { bearer, sendRequest, startServer, type TestApiServer } from "./test-api-server.ts";

let server: TestApiServer;
afterEach(() => server.close());

const holdfast = { namespace: "agents" } as unknown as Holdfast;
const base64 = (text: string) => Buffer.from(text).toString("base64");
const PLAIN = { metadata: { encoding: base64("json/plain") }, data: base64('"a marker"') };

/** Inverts every byte and changes the encoding accordingly. */
const toy = {
  encode: async (payloads: Payload[]) => payloads.map((payload) => turned(payload, "binary/toy")),
  decode: async (payloads: Payload[]) => payloads.map((payload) => turned(payload, "json/plain")),
};
function turned({ data }: Payload, encoding: string): Payload {
  return { metadata: { encoding: Buffer.from(encoding) }, data: data?.map((byte) => byte ^ 0xff) ?? null };
}

test("payloads pass through the codec and back, as the Temporal UI sends them", async () => {
  server = await startServer(holdfast, { codec: toy, allowOrigins: ["http://localhost:8233"] });
  const ui = { origin: "http://localhost:8233", "x-namespace": "agents" };
  const encoded = await sendRequest(server, "POST /codec/encode", { payloads: [PLAIN] }, ui);
  expect(encoded.status).toBe(200);
  expect(encoded.headers.get("access-control-allow-origin")).toBe("http://localhost:8233");
  const [sealed] = encoded.body["payloads"] as [{ metadata: { encoding: string }; data: string }];
  expect(Buffer.from(sealed.metadata.encoding, "base64").toString()).toBe("binary/toy");
  expect(Buffer.from(sealed.data, "base64").includes("marker")).toBe(false);
  const decoded = await sendRequest(server, "POST /codec/decode", { payloads: [sealed] }, ui);
  expect(decoded.body).toEqual({ payloads: [PLAIN] });
});

test("the UI sends no token: the key in the codec's address gives access to the codec and nothing else", async () => {
  server = await startServer(holdfast, { codec: toy });
  const post = (url: string) =>
    fetch(url, { method: "POST", body: JSON.stringify({ payloads: [PLAIN] }) }).then(({ status }) => status);
  expect(await post(`${server.codecUrl}/decode`)).toBe(200);
  expect(await post(`${server.codecUrl}x/decode`)).toBe(401);
  expect(await post(`${server.url}/codec/decode`)).toBe(401);
  const key = server.codecUrl?.split("/").at(-1) ?? "";
  const listed = await fetch(`${server.url}/v1/sessions`, { headers: { authorization: `Bearer ${key}` } });
  expect(listed.status).toBe(401);
});

test("our own codec: the server decrypts what it encrypts; a payload without a key is a problem that names the key", async () => {
  const env = { KEY: Buffer.alloc(32, 7).toString("base64"), OTHER: Buffer.alloc(32, 9).toString("base64") };
  const codecWith = (references: string) =>
    new EncryptionCodec({ ring: KeyRing.fromReferences(references, env), payloads: true, transcript: true });
  server = await startServer(holdfast, { codec: codecWith("k1=env:KEY") });
  const wire = (payloads: readonly Payload[]) => ({
    payloads: payloads.map(({ metadata, data }) => ({
      metadata: Object.fromEntries(
        Object.entries(metadata ?? {}).map(([name, bytes]) => [name, Buffer.from(bytes).toString("base64")]),
      ),
      data: Buffer.from(data ?? []).toString("base64"),
    })),
  });
  const plain = { metadata: { encoding: Buffer.from("json/plain") }, data: Buffer.from('"words"') };
  const opened = await sendRequest(
    server,
    "POST /codec/decode",
    wire(await codecWith("k1=env:KEY").encode([plain])),
  );
  expect(opened.body).toMatchObject({ payloads: [{ data: base64('"words"') }] });
  const other = await sendRequest(
    server,
    "POST /codec/decode",
    wire(await codecWith("k2=env:OTHER").encode([plain])),
  );
  expect([other.status, other.body["code"], other.body["detail"]]).toEqual([
    422,
    "codec-failed",
    expect.stringContaining("k2"),
  ]);
});

test("an invalid payload, another namespace, and too much data are rejected", async () => {
  server = await startServer(holdfast, { codec: toy });
  const refused = async (body: unknown, headers = {}) =>
    (await sendRequest(server, "POST /codec/decode", body, headers)).status;
  expect(await refused({ payloads: [{ data: "not base64 at all" }] })).toBe(422);
  expect(await refused({ payloads: "x" })).toBe(422);
  expect(await refused({ payloads: [] }, { "x-namespace": "others" })).toBe(422);
  expect(await refused({ payloads: [{ data: "A".repeat(17 * 1024 * 1024) }] })).toBe(413);
  await server.close();
  server = await startServer(holdfast);
  expect(server.codecUrl).toBeUndefined();
  const none = await fetch(`${server.url}/codec/decode`, { method: "POST", headers: bearer, body: "{}" });
  expect(none.status).toBe(404);
});
