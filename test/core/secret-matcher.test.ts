import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listSecretForms } from "../../src/platform/text/secret-forms.ts";
import { SecretMatcher } from "../../src/platform/text/secret-matcher.ts";

const SECRET = "hunter2+Correct/Horse?battery=ä";
const bytes = Buffer.from(SECRET, "utf8");
const matcher = new SecretMatcher([SECRET]);

describe("a secret is masked however a command prints it", () => {
  test.each<readonly [string, string]>([
    ["reversed", [...SECRET].reverse().join("")],
    ["in hex", bytes.toString("hex")],
    ["in upper-case hex", bytes.toString("hex").toUpperCase()],
    ["in hex, with spaces between the bytes", bytes.toString("hex").replace(/../g, "$& ").trim()],
    ["in base64", bytes.toString("base64")],
    ["in base64url", bytes.toString("base64url")],
    ["in base64, split into lines", bytes.toString("base64").replace(/.{7}/g, "$&\n")],
    ["with spaces between its characters", [...SECRET].join(" ")],
    ["wrapped into lines", SECRET.replace(/.{10}/g, "$&\n")],
  ])("%s", (_, printed) => {
    expect(matcher.mask(`a ${printed}\nb`, "***")).toBe("a ***\nb");
  });

  test.each([0, 1, 2, 3])("in base64 of a text, after %i characters", (before) => {
    const whole = Buffer.from(`${"x".repeat(before)}${SECRET} and more`, "utf8").toString("base64");
    const shown = matcher.mask(whole, "***");
    expect(shown).toContain("***");
    // What remains on either side contains at most six bits of the secret.
    for (const part of shown.split("***")) {
      const rest = Buffer.from(part, "base64").toString("latin1");
      expect(rest.includes(SECRET.slice(0, 2)) || rest.includes(SECRET.slice(-3, -1))).toBe(false);
    }
  });

  test("two overlapping secrets are masked completely", () => {
    const two = new SecretMatcher(["abcdefgh", "efghijklmnop"]);
    expect(two.mask("<abcdefghijklmnop>", "***")).toBe("<***>");
  });

  test("ordinary text is unchanged, even if it contains the beginning of a secret", () => {
    const text = `The ${SECRET.slice(0, -1)} of a hunter.`;
    expect(matcher.mask(text, "***")).toBe(text);
  });
});

const word = fc
  .string({ unit: "grapheme-ascii", minLength: 6, maxLength: 40 })
  .filter((text) => text.trim() === text);

test("property: no form of any secret remains in a masked text", () => {
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 5 }),
      fc.array(fc.string(), { maxLength: 6 }),
      (secrets, prose) => {
        const forms = secrets.flatMap(listSecretForms);
        const text = forms
          .map((form, index) => `${prose[index % Math.max(1, prose.length)] ?? ""}${form}`)
          .join("");
        // A replacement that cannot be part of a form.
        const shown = new SecretMatcher(secrets).mask(text, "\u0000");
        for (const form of forms) expect(shown).not.toContain(form);
      },
    ),
  );
});

test("property: a partial form at the end of a text is detected, wherever the text is cut", () => {
  fc.assert(
    fc.property(word, fc.nat(), fc.string({ maxLength: 10 }), (secret, at, prose) => {
      const one = new SecretMatcher([secret]);
      for (const form of listSecretForms(secret)) {
        const cut = 1 + (at % (form.length - 1));
        const head = form.slice(0, cut);
        expect(one.countPartialAtEnd(prose + head)).toBeGreaterThanOrEqual(cut);
      }
    }),
  );
});
