import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMask } from "../../src/models/secret-masks.ts";
import { listSecretForms } from "../../src/platform/text/secret-forms.ts";
import { SecretMasker } from "../../src/tools/sources/mcp/secret-references.ts";
import { RequestSecrets } from "../../src/tools/sources/openapi/request-secrets.ts";

const SECRET = "a!b'c(d)*e&f<g>/h+i j\"k\\é";

/** How servers repeat what they were sent: each is a form that an answer of theirs was seen to have. */
const REPEATED: readonly (readonly [string, string])[] = [
  ["as it is", SECRET],
  ["as a browser's part of an address", encodeURIComponent(SECRET)],
  [
    "as we send it in a query",
    encodeURIComponent(SECRET).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`),
  ],
  ["with small hex letters", encodeURIComponent(SECRET).replace(/%../g, (code) => code.toLowerCase())],
  ["as a field of a form", new URLSearchParams({ x: SECRET }).toString().slice(2)],
  ["in JSON", JSON.stringify(SECRET).slice(1, -1)],
  ["in JSON of PHP", JSON.stringify(SECRET).slice(1, -1).replaceAll("/", "\\/")],
  [
    "in JSON of Go",
    JSON.stringify(SECRET)
      .slice(1, -1)
      .replaceAll("&", "\\u0026")
      .replaceAll("<", "\\u003c")
      .replaceAll(">", "\\u003e"),
  ],
];

describe("secrets that an answer repeats [OAPI-04]", () => {
  test.each(REPEATED)("%s: an API", (_, form) => {
    const used = new RequestSecrets(() => SECRET);
    used.resolve("${KEY}");
    expect(used.mask(`>${form}<`)).toBe(">****<");
  });

  test.each(REPEATED)("%s: an MCP server", (_, form) => {
    const transport = { type: "http", url: "http://h/", headers: { "x-key": "${KEY}" } } as const;
    expect(new SecretMasker({ transport }, () => SECRET).mask(`>${form}<`)).toBe(">***<");
  });

  test.each(REPEATED)("%s: what a worker stores and shows", (_, form) => {
    expect(createMask([SECRET])(`>${form}<`)).toBe(">***<");
  });

  test("a line break behind it, which no header is sent with, hides nothing", () => {
    const used = new RequestSecrets(() => "tok-secret-line\n");
    used.resolve("Bearer ${KEY}");
    expect(used.mask("Bearer tok-secret-line")).toBe("Bearer ****");
  });

  test("every text has forms, none of them short", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const form of listSecretForms(text)) expect(form.length).toBeGreaterThanOrEqual(6);
        if (text.length >= 6) expect(listSecretForms(text)).toContain(text);
      }),
    );
  });
});
