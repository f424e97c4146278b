import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMask } from "../../src/models/secret-masks.ts";
import { listSecretForms } from "../../src/platform/text/secret-forms.ts";
import { SecretMasker } from "../../src/tools/sources/mcp/secret-references.ts";
import { RequestSecrets } from "../../src/tools/sources/openapi/request-secrets.ts";
import { anyCodePoint } from "../support/any-code-point.ts";

const SECRET = "a!b'c(d)*e&f<g>/h+i j\"k\\é";

/** The forms in which servers were observed to repeat a secret that they received. */
const REPEATED: readonly (readonly [string, string])[] = [
  ["unchanged", SECRET],
  ["percent-encoded by a browser", encodeURIComponent(SECRET)],
  [
    "percent-encoded as Holdfast sends it in a query",
    encodeURIComponent(SECRET).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`),
  ],
  ["with lower-case hex digits", encodeURIComponent(SECRET).replace(/%../g, (code) => code.toLowerCase())],
  ["form-encoded", new URLSearchParams({ x: SECRET }).toString().slice(2)],
  ["in JSON", JSON.stringify(SECRET).slice(1, -1)],
  ["in JSON as PHP writes it", JSON.stringify(SECRET).slice(1, -1).replaceAll("/", "\\/")],
  [
    "in JSON as Go writes it",
    JSON.stringify(SECRET)
      .slice(1, -1)
      .replaceAll("&", "\\u0026")
      .replaceAll("<", "\\u003c")
      .replaceAll(">", "\\u003e"),
  ],
];

describe("secrets that a response repeats are masked", () => {
  test.each(REPEATED)("%s, from an API [OAPI-04.3]", (_, form) => {
    const used = new RequestSecrets(() => SECRET);
    used.resolve("${KEY}");
    expect(used.mask(`>${form}<`)).toBe(">****<");
  });

  test.each(REPEATED)("%s, from an MCP server", (_, form) => {
    const transport = { type: "http", url: "http://h/", headers: { "x-key": "${KEY}" } } as const;
    expect(new SecretMasker({ transport }, () => SECRET).mask(`>${form}<`)).toBe(">***<");
  });

  test.each(REPEATED)("%s, in what a worker stores and shows", (_, form) => {
    expect(createMask([SECRET])(`>${form}<`)).toBe(">***<");
  });

  test("a trailing line break in the secret, which is never sent in a header, does not prevent masking", () => {
    const used = new RequestSecrets(() => "tok-secret-line\n");
    used.resolve("Bearer ${KEY}");
    expect(used.mask("Bearer tok-secret-line")).toBe("Bearer ****");
  });

  test("the forms of a text have at least six characters, and include the text itself if it is that long", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCodePoint }), (text) => {
        for (const form of listSecretForms(text)) expect(form.length).toBeGreaterThanOrEqual(6);
        if (text.length >= 6) expect(listSecretForms(text)).toContain(text);
      }),
    );
  });
});
