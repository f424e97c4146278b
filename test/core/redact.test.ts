import { describe, expect, test } from "vitest";
import { redact, redactWhole, redactWords, shownBriefly } from "../../src/core/redact.ts";
import { cpuMs } from "../support/cpu-time.ts";
import { CORPUS, HARMLESS } from "./secret-shapes.ts";

const TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3.SflKxwRJSMeKKF2QT4";

describe("what looks like a key is not shown [DBG-03]", () => {
  test.each([
    ["a sk-ant-0123456789abcdef b", "a *** b"],
    [`jwt ${TOKEN}, and more`, "jwt ***, and more"],
    [`id-${TOKEN}`, "id-***"],
    [`one.two.${TOKEN}`, "one.two.***"],
    [`aaaaaaaaaaaaaaaa.${TOKEN}`, "aaaaaaaaaaaaaaaa.***"],
    ["Authorization: Bearer   abcdef012345", "Authorization: Bearer   ***"],
    ["basic basic abcdef012345", "basic basic ***"],
    ["api_key = 'secret7890'", "api_key = '***'"],
    ['{"password": "hunter22"}', '{"password": "***"}'],
    ["token: token=abcdefgh", "token: ***"],
    ["token:abc pwd:abcdefgh", "token:abc pwd:***"],
    ["-----BEGIN RSA PRIVATE KEY-----\nMIIE\nno end", "***"],
    ["password: secret: hunter22", "password: *** ***"],
    ["the bearer of the secret: bread", "the bearer of the secret: bread"],
  ])("%s", (text, shown) => {
    expect(redact(text)).toBe(shown);
  });
});

describe("a corpus of keys [DBG-03]", () => {
  test("is large enough to mean something", () => {
    expect(CORPUS.length).toBeGreaterThan(100);
    for (const [, text, secret] of CORPUS) expect(text).toContain(secret);
  });

  test.each(CORPUS)("%s", (_, text, secret) => {
    for (const said of [text, `"${text}"`, `x\n${text}\ny`, `(${text})`, `${text}, ${text}`]) {
      expect(redact(said)).not.toContain(secret);
      expect(redactWhole(said)).not.toContain(secret);
      expect(shownBriefly(said, 4000)).not.toContain(secret);
    }
    expect(redact(text)).toContain("***");
  });

  test.each(HARMLESS)("%s is no key", (text) => {
    expect(redact(text)).toBe(text);
  });

  test("of an address, what is no secret stays readable", () => {
    const [, url = ""] = CORPUS.find(([name]) => name === "PostgreSQL URL") ?? [];
    expect(redact(url)).toBe("postgres://me:***@db.example:5432/x");
  });

  test("in the words of a command the secret stands behind its flag", () => {
    expect(redactWords(["deploy", "--password", "hunter22", "--api-key", "-v", "ok"])).toEqual([
      "deploy",
      "--password",
      "***",
      "--api-key",
      "-v",
      "ok",
    ]);
  });

  test("a long output is gone through whole, and no key is cut in two by its length", () => {
    const [, , key = ""] = CORPUS[0] ?? [];
    const filler = "some words of an output\n".repeat(2_700);
    for (let shift = 0; shift < 40; shift += 3) {
      const text = `${filler}${"y".repeat(shift * 20)}\n${key}\n${filler}${key}`;
      const cleaned = redactWhole(text);
      expect(cleaned).not.toContain(key.slice(0, 30));
      expect(cleaned).toBe(text.replaceAll(key, "***"));
    }
  });
});

/** Hundreds of thousands of characters; what is looked at once takes some milliseconds, what is looked at again and again takes minutes. */
const LENGTH = 300_000;

test.each([
  " ",
  "\n",
  "bearer ",
  "token  ",
  "token= ",
  "eyJ-",
  "eyJaaaaaaaaaaa-",
  "eyJaaaaaaaaaaa.",
  "eyJ.",
  "-----BEGIN A",
  "://a:",
  "://",
  "a@",
  "?key=",
  " --token ",
  "M",
  "MMMMMMMMMMMMMMMMMMMMMMMMM.",
  "login a password ",
  "cookie: ",
  "authorization: a ",
  'secret="',
  "secret='a",
  "hv" + "s.aaaaaaaaaaaaaaaa.",
  "sk-a ",
  "0Q~",
  "AA:AA",
  "1234567890",
])("a long text of %j does not hold up who looks through it [DBG-03]", (part) => {
  const text = part.repeat(LENGTH / part.length);
  expect(cpuMs(() => redact(text))).toBeLessThan(2_000);
});

test("of a text without end, the beginning is shown [DBG-03]", () => {
  for (const part of ["y", "sk-", "eyJ", "token=", " "]) {
    const text = `sk-live-0123456789abcdef ${part.repeat(10_000_000 / part.length)}`;
    expect(shownBriefly(text, 20)).toMatch(/^\*\*\* /);
    expect(shownBriefly(text, 20).length).toBeLessThanOrEqual(23);
  }
});
