import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { encryptionOf } from "../../src/platform/encryption/encryption.ts";
import { KeyError } from "../../src/platform/encryption/key-error.ts";
import { KeyRing, keyIdOf } from "../../src/platform/encryption/key-ring.ts";
import { environmentOf } from "./keys.ts";

const env = environmentOf("A", "B");
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

describe("the first key seals, all of them open [TMP-09]", () => {
  const old = KeyRing.of("a=env:A", env);
  const both = KeyRing.of("b=env:B,a=env:A", env);

  test("a key that was put in front, and one that was there before", () => {
    const sealedThen = old.seal("transcript", text, "here");
    const sealedNow = both.seal("transcript", text, "here");
    expect([keyIdOf(sealedThen), keyIdOf(sealedNow)]).toEqual(["a", "b"]);
    expect(both.open("transcript", sealedThen, "here").toString()).toBe("the words");
    expect(both.open("transcript", sealedNow, "here").toString()).toBe("the words");
  });

  test("a key that is not here is named, with what to do", () => {
    const sealed = both.seal("transcript", text, "here");
    expect(faultOf(() => old.open("transcript", sealed, "here"))).toMatch(
      /^missing: Sealed with key "b".*has "a".*HOLDFAST_ENCRYPTION_KEYS/,
    );
  });

  test("behind `plain` keys open, and none seals", () => {
    const ring = KeyRing.of("plain,a=env:A", env);
    expect(ring.writes).toBeUndefined();
    expect(ring.open("live", old.seal("live", text, ""), "").toString()).toBe("the words");
    expect(encryptionOf({ keys: "plain,a=env:A" }, env)).toMatchObject({
      payloads: false,
      transcript: false,
    });
  });

  test("nothing of the text is in what is sealed, and no two are alike", () => {
    const one = old.seal("live", text, "");
    expect(one.includes(text)).toBe(false);
    expect(one.equals(old.seal("live", text, ""))).toBe(false);
  });
});

describe("what was changed does not open [TMP-09]", () => {
  const ring = KeyRing.of("a=env:A", env);
  const sealed = ring.seal("transcript", text, "row 1");

  test("each of its bits counts", () => {
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at] = changed[at]! ^ 1;
      expect(faultOf(() => ring.open("transcript", changed, "row 1"))).toMatch(/^(mismatch|missing): /);
    }
  });

  test("cut off anywhere, or longer than it was", () => {
    for (let end = 0; end < sealed.length; end++) {
      expect(faultOf(() => ring.open("transcript", sealed.subarray(0, end), "row 1"))).toMatch(/^mismatch: /);
    }
    const longer = Buffer.concat([sealed, Buffer.from([0])]);
    expect(faultOf(() => ring.open("transcript", longer, "row 1"))).toMatch(/^mismatch: /);
  });

  test("moved to another place, or taken for another purpose", () => {
    expect(faultOf(() => ring.open("transcript", sealed, "row 2"))).toMatch(/^mismatch: .*"a".*moved/);
    expect(faultOf(() => ring.open("payload", sealed, "row 1"))).toMatch(/^mismatch: /);
  });

  test("another key of the same name", () => {
    const other = KeyRing.of("a=env:B", env);
    expect(other.fingerprint("a")).not.toBe(ring.fingerprint("a"));
    expect(faultOf(() => other.open("transcript", sealed, "row 1"))).toMatch(/^mismatch: .*another key/);
  });
});

describe("keys are named, never held in configuration [TMP-09]", () => {
  const file = join(folder, "key");
  writeFileSync(file, `${Buffer.alloc(32, 7).toString("hex")}\n`);
  const short = join(folder, "short");
  writeFileSync(short, "c2hvcnQ=");

  test("from a file, in hex as in base64", () => {
    const ring = KeyRing.of(`f=file:${file}`, {});
    const same = KeyRing.of("f=env:SAME", { SAME: Buffer.alloc(32, 7).toString("base64") });
    expect(same.open("live", ring.seal("live", text, ""), "").toString()).toBe("the words");
  });

  test.each([
    [env["A"]!, /Reference 1 is none that can be used/],
    [`a=${env["A"]}`, /Reference 1 is none that can be used/],
    ["plain", /no key/],
    ["plain=env:A", /Reference 1/],
    ["a=env:NOT_SET", /"a": NOT_SET is not set/],
    [`a=file:${folder}/nosuch`, /"a": .*nosuch cannot be read \(ENOENT\)/],
    [`a=file:${short}`, /"a" .*is not 32 bytes.*openssl rand -base64 32/],
    ["a=env:A,a=env:B", /two keys "a"/],
  ])("what cannot be used says why, and repeats no key (%#)", (references, why) => {
    const said = faultOf(() => KeyRing.of(references, env));
    expect(said).toMatch(/^invalid: /);
    expect(said).toMatch(why);
    expect(said).not.toContain(env["A"]!);
  });

  test("parts by name, and no other word", () => {
    const keys = { HOLDFAST_ENCRYPTION_KEYS: "a=env:A", ...env };
    expect(encryptionOf(undefined, keys)).toMatchObject({ payloads: true, transcript: true });
    expect(encryptionOf(undefined, { ...keys, HOLDFAST_ENCRYPT: "payloads" })).toMatchObject({
      payloads: true,
      transcript: false,
    });
    expect(faultOf(() => encryptionOf(undefined, { ...keys, HOLDFAST_ENCRYPT: "everything" }))).toMatch(
      /"everything"; it takes payloads and transcript/,
    );
    expect(faultOf(() => encryptionOf(undefined, { HOLDFAST_ENCRYPT: "payloads" }))).toMatch(/no key/);
    expect(encryptionOf(undefined, {})).toMatchObject({ payloads: false, transcript: false });
  });
});
