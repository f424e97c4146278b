import { defaultPayloadConverter, type Payload, type SerializationContext } from "@temporalio/common";
import { describe, expect, test } from "vitest";
import { EncryptionCodec } from "../../src/platform/encryption/encryption-codec.ts";
import { NO_ENCRYPTION, resolveEncryption } from "../../src/platform/encryption/resolve-encryption.ts";
import {
  addKeysToIdentity,
  canReadEachOther,
  getKeyNames,
  parseIdentityKeys,
  removeKeysFromIdentity,
} from "../../src/platform/encryption/worker-keys.ts";
import { createKeyEnvironment } from "./key-environment.ts";

const env = createKeyEnvironment("A", "B");
const codecOf = (keys: string) => new EncryptionCodec(resolveEncryption({ keys }, env));
const a = codecOf("a=env:A");
const words = defaultPayloadConverter.toPayload({ prompt: "MARKER" });
const of = (workflowId: string): SerializationContext => ({ type: "workflow", namespace: "n", workflowId });
const read = (payload: Payload | undefined) => defaultPayloadConverter.fromPayload(payload!);

describe("payloads are encrypted on their way to Temporal [TMP-09.2]", () => {
  test("an encrypted payload is restored exactly; the server sees the key's name and no text", async () => {
    const [sealed] = await a.encode([words], of("w"));
    const metadata = sealed?.metadata ?? {};
    expect(Buffer.from(metadata["encoding"]!).toString()).toBe("binary/encrypted");
    expect(Buffer.from(metadata["encryption-key-id"]!).toString()).toBe("a");
    expect(Buffer.from(sealed!.data!).includes("MARKER")).toBe(false);
    expect(read((await a.decode([sealed!], of("w")))[0])).toEqual({ prompt: "MARKER" });
  });

  test("bytes, no data and an empty list", async () => {
    const values = [new Uint8Array([0, 255, 10]), undefined, null, ""];
    const sealed = await a.encode(
      values.map((value) => defaultPayloadConverter.toPayload(value)),
      of("w"),
    );
    expect((await a.decode(sealed, of("w"))).map(read)).toEqual(values);
    expect(await a.encode([])).toEqual([]);
  });

  test("plain payloads stay readable, and without keys everything is written plain", async () => {
    expect(await a.decode([words])).toEqual([words]);
    expect(await new EncryptionCodec(NO_ENCRYPTION).encode([words], of("w"))).toEqual([words]);
  });

  test("a process without the key receives an error with the key's name", async () => {
    const sealed = await a.encode([words], of("w"));
    await expect(new EncryptionCodec(NO_ENCRYPTION).decode(sealed)).rejects.toThrow(
      /key "a".*which has none/,
    );
    await expect(codecOf("b=env:B").decode(sealed)).rejects.toThrow(/key "a".*has "b"/);
    await expect(codecOf("a=env:B").decode(sealed)).rejects.toThrow(/key "a".*different key/);
  });
});

describe("a payload can be decrypted in its own workflow alone [TMP-09.3]", () => {
  test("a payload that was moved to another workflow is rejected, under its own name or a false one", async () => {
    const [sealed] = await a.encode([words], of("w"));
    await expect(a.decode([sealed!], of("x"))).rejects.toThrow(/workflow x was encrypted for workflow w/);
    const renamed = { ...sealed, metadata: { ...sealed?.metadata, "encrypted-for": Buffer.from("x") } };
    await expect(a.decode([renamed], of("x"))).rejects.toThrow(/key "a".*moved/);
    const { "encrypted-for": _, ...nameless } = sealed?.metadata ?? {};
    await expect(a.decode([{ ...sealed, metadata: nameless }], of("x"))).rejects.toThrow(/moved/);
  });

  test("a codec server, which knows no workflow, decrypts it", async () => {
    const sealed = await a.encode([words], of("w"));
    expect(read((await a.decode(sealed))[0])).toEqual({ prompt: "MARKER" });
  });

  test("the input of a schedule is decrypted in the runs that it starts, and in no other", async () => {
    const sealed = await a.encode([words], of("nightly"));
    const started = of("nightly-2026-11-22T09:00:00Z");
    expect(read((await a.decode(sealed, started))[0])).toEqual({ prompt: "MARKER" });
    await expect(a.decode(sealed, of("nightly-other"))).rejects.toThrow(/encrypted for workflow nightly/);
  });
});

describe("which process has which keys [TMP-09.3]", () => {
  const names = (keys: string) => getKeyNames(resolveEncryption({ keys }, env));
  const none = getKeyNames(NO_ENCRYPTION);

  test("a worker's identity states it, and is otherwise unchanged", () => {
    const identity = addKeysToIdentity("host:1", resolveEncryption({ keys: "b=env:B,a=env:A" }, env));
    expect(identity).not.toContain(env["A"]!.slice(0, 10));
    expect(parseIdentityKeys(identity)).toEqual(names("b=env:B,a=env:A"));
    expect(removeKeysFromIdentity(identity)).toBe("host:1");
    expect([addKeysToIdentity("host:1", NO_ENCRYPTION), parseIdentityKeys("host:1")]).toEqual([
      "host:1",
      none,
    ]);
  });

  test("two processes are compatible if each can read what the other writes", () => {
    expect(canReadEachOther(names("a=env:A"), names("b=env:B,a=env:A"))).toBe(false);
    expect(canReadEachOther(names("a=env:A,b=env:B"), names("b=env:B,a=env:A"))).toBe(true);
    expect(canReadEachOther(names("a=env:A"), names("a=env:B"))).toBe(false);
    expect(canReadEachOther(names("a=env:A"), none)).toBe(false);
    expect(canReadEachOther(names("plain,a=env:A"), none)).toBe(true);
    expect(canReadEachOther(names("plain,a=env:A"), names("a=env:A"))).toBe(true);
  });
});
