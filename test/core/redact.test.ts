import { describe, expect, test } from "vitest";
import { redact, redactCommandWords, redactPreview, redactWhole } from "../../src/platform/text/redact.ts";
import { cpuMs } from "../support/cpu-time.ts";
import { CORPUS, HARMLESS } from "./secret-shapes.ts";

const TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3.SflKxwRJSMeKKF2QT4";

describe("text that looks like a key is masked", () => {
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
  ])("%s [DBG-03.5]", (text, shown) => {
    expect(redact(text)).toBe(shown);
  });
});

describe("a corpus of keys", () => {
  test("has more than 100 samples, each of which contains its secret", () => {
    expect(CORPUS.length).toBeGreaterThan(100);
    for (const [, text, secret] of CORPUS) expect(text).toContain(secret);
  });

  test.each(CORPUS)("%s [DBG-03.5]", (_, text, secret) => {
    for (const said of [text, `"${text}"`, `x\n${text}\ny`, `(${text})`, `${text}, ${text}`]) {
      expect(redact(said)).not.toContain(secret);
      expect(redactWhole(said)).not.toContain(secret);
      expect(redactPreview(said, 4000)).not.toContain(secret);
    }
    expect(redact(text)).toContain("***");
  });

  test.each(HARMLESS)("%s is not a key", (text) => {
    expect(redact(text)).toBe(text);
  });

  test("the parts of a URL that are not secret stay readable", () => {
    const [, url = ""] = CORPUS.find(([name]) => name === "PostgreSQL URL") ?? [];
    expect(redact(url)).toBe("postgres://me:***@db.example:5432/x");
  });

  test("in a command's arguments, the value after a secret flag is masked", () => {
    expect(redactCommandWords(["deploy", "--password", "hunter22", "--api-key", "-v", "ok"])).toEqual([
      "deploy",
      "--password",
      "***",
      "--api-key",
      "-v",
      "ok",
    ]);
  });

  test("every key in a long output is masked, whatever its position [DBG-03.5]", () => {
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

/** Characters of a long text: linear work takes milliseconds, quadratic work takes minutes. */
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
])("a long text of %j is masked quickly [DBG-03.5]", (part) => {
  const text = part.repeat(LENGTH / part.length);
  expect(cpuMs(() => redact(text))).toBeLessThan(2_000);
});

test("a preview of a very long text shows its masked beginning [DBG-03.5]", () => {
  for (const part of ["y", "sk-", "eyJ", "token=", " "]) {
    const text = `sk-live-0123456789abcdef ${part.repeat(10_000_000 / part.length)}`;
    expect(redactPreview(text, 20)).toMatch(/^\*\*\* /);
    expect(redactPreview(text, 20).length).toBeLessThanOrEqual(23);
  }
});
