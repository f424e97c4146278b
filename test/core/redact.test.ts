import { describe, expect, test } from "vitest";
import { redact, shownBriefly } from "../../src/core/redact.ts";

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
])("a long text of %j does not hold up who looks through it [DBG-03]", (part) => {
  const text = part.repeat(LENGTH / part.length);
  const begunAt = performance.now();
  redact(text);
  expect(performance.now() - begunAt).toBeLessThan(2_000);
});

test("of a text without end, the beginning is shown [DBG-03]", () => {
  for (const part of ["y", "sk-", "eyJ", "token=", " "]) {
    const text = `sk-live-0123456789abcdef ${part.repeat(10_000_000 / part.length)}`;
    expect(shownBriefly(text, 20)).toMatch(/^\*\*\* /);
    expect(shownBriefly(text, 20).length).toBeLessThanOrEqual(23);
  }
});
