import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { KeyError } from "../../src/platform/encryption/key-error.ts";
import { KeyRing, readKeyId } from "../../src/platform/encryption/key-ring.ts";
import { resolveEncryption } from "../../src/platform/encryption/resolve-encryption.ts";
import { createKeyEnvironment } from "./key-environment.ts";

const env = createKeyEnvironment("A", "B");
const text = Buffer.from("the words");
const folder = mkdtempSync(join(tmpdir(), "holdfast-keys-"));
afterAll(() => rmSync(folder, { recursive: true }));

function faultOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof KeyError) return `${error.fault}: ${error.message}`;
    throw error;
  }
  return "nothing was thrown";
}

describe("the first key encrypts, all of them decrypt [TMP-09.2]", () => {
  const old = KeyRing.fromReferences("a=env:A", env);
  const both = KeyRing.fromReferences("b=env:B,a=env:A", env);

  test("a new first key, and the key that was there before", () => {
    const sealedThen = old.encrypt("transcript", text, "here");
    const sealedNow = both.encrypt("transcript", text, "here");
    expect([readKeyId(sealedThen), readKeyId(sealedNow)]).toEqual(["a", "b"]);
    expect(both.decrypt("transcript", sealedThen, "here").toString()).toBe("the words");
    expect(both.decrypt("transcript", sealedNow, "here").toString()).toBe("the words");
  });

  test("a missing key is named, with the remedy", () => {
    const sealed = both.encrypt("transcript", text, "here");
    expect(faultOf(() => old.decrypt("transcript", sealed, "here"))).toMatch(
      /^missing: Encrypted with key "b".*has "a".*HOLDFAST_ENCRYPTION_KEYS/,
    );
  });

  test("keys after `plain` decrypt, and none encrypts", () => {
    const ring = KeyRing.fromReferences("plain,a=env:A", env);
    expect(ring.writeKeyId).toBeUndefined();
    expect(ring.decrypt("live", old.encrypt("live", text, ""), "").toString()).toBe("the words");
    expect(resolveEncryption({ keys: "plain,a=env:A" }, env)).toMatchObject({
      payloads: false,
      transcript: false,
    });
  });

  test("the encrypted data contains nothing of the text, and no two results are alike", () => {
    const one = old.encrypt("live", text, "");
    expect(one.includes(text)).toBe(false);
    expect(one.equals(old.encrypt("live", text, ""))).toBe(false);
  });
});

describe("modified data is not decrypted [TMP-09.3]", () => {
  const ring = KeyRing.fromReferences("a=env:A", env);
  const sealed = ring.encrypt("transcript", text, "row 1");

  test("if any bit differs", () => {
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at] = changed[at]! ^ 1;
      expect(faultOf(() => ring.decrypt("transcript", changed, "row 1"))).toMatch(/^(mismatch|missing): /);
    }
  });

  test("if it is cut off anywhere or longer than before", () => {
    for (let end = 0; end < sealed.length; end++) {
      expect(faultOf(() => ring.decrypt("transcript", sealed.subarray(0, end), "row 1"))).toMatch(
        /^mismatch: /,
      );
    }
    const longer = Buffer.concat([sealed, Buffer.from([0])]);
    expect(faultOf(() => ring.decrypt("transcript", longer, "row 1"))).toMatch(/^mismatch: /);
  });

  test("if it was moved to another location or is read for another purpose", () => {
    expect(faultOf(() => ring.decrypt("transcript", sealed, "row 2"))).toMatch(/^mismatch: .*"a".*moved/);
    expect(faultOf(() => ring.decrypt("payload", sealed, "row 1"))).toMatch(/^mismatch: /);
  });

  test("if another key has the same name", () => {
    const other = KeyRing.fromReferences("a=env:B", env);
    expect(other.fingerprint("a")).not.toBe(ring.fingerprint("a"));
    expect(faultOf(() => other.decrypt("transcript", sealed, "row 1"))).toMatch(/^mismatch: .*different key/);
  });
});

describe("keys are named, never stored in configuration [TMP-09.2]", () => {
  const file = join(folder, "key");
  writeFileSync(file, `${Buffer.alloc(32, 7).toString("hex")}\n`);
  const short = join(folder, "short");
  writeFileSync(short, "c2hvcnQ=");

  test("they are read from a file, in hex or in base64", () => {
    const ring = KeyRing.fromReferences(`f=file:${file}`, {});
    const same = KeyRing.fromReferences("f=env:SAME", { SAME: Buffer.alloc(32, 7).toString("base64") });
    expect(same.decrypt("live", ring.encrypt("live", text, ""), "").toString()).toBe("the words");
  });

  test.each([
    [env["A"]!, /Reference 1 is invalid/],
    [`a=${env["A"]}`, /Reference 1 is invalid/],
    ["plain", /no key/],
    ["plain=env:A", /Reference 1/],
    ["a=env:NOT_SET", /"a": NOT_SET is not set/],
    [`a=file:${folder}/nosuch`, /"a": .*nosuch cannot be read \(ENOENT\)/],
    [`a=file:${short}`, /"a" .*is not 32 bytes.*openssl rand -base64 32/],
    ["a=env:A,a=env:B", /two keys "a"/],
  ])("an invalid setting is explained without repeating a key (%#)", (references, why) => {
    const said = faultOf(() => KeyRing.fromReferences(references, env));
    expect(said).toMatch(/^invalid: /);
    expect(said).toMatch(why);
    expect(said).not.toContain(env["A"]!);
  });

  test("the parts to encrypt are chosen by name, and an unknown name is rejected", () => {
    const keys = { HOLDFAST_ENCRYPTION_KEYS: "a=env:A", ...env };
    expect(resolveEncryption(undefined, keys)).toMatchObject({ payloads: true, transcript: true });
    expect(resolveEncryption(undefined, { ...keys, HOLDFAST_ENCRYPT: "payloads" })).toMatchObject({
      payloads: true,
      transcript: false,
    });
    expect(faultOf(() => resolveEncryption(undefined, { ...keys, HOLDFAST_ENCRYPT: "everything" }))).toMatch(
      /"everything"; valid values are payloads and transcript/,
    );
    expect(faultOf(() => resolveEncryption(undefined, { HOLDFAST_ENCRYPT: "payloads" }))).toMatch(/no key/);
    expect(resolveEncryption(undefined, {})).toMatchObject({ payloads: false, transcript: false });
  });
});
