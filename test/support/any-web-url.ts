import fc from "fast-check";
import { anyCodePoint } from "./any-code-point.ts";

const pathCharacter = fc.oneof(
  { arbitrary: fc.constantFrom(..."abcXYZ019-._~!$&'()*+,;=:@"), weight: 10 },
  { arbitrary: anyCodePoint.map(encodeURIComponent), weight: 1 },
);

const path = fc
  .array(fc.string({ unit: pathCharacter, maxLength: 10 }), { maxLength: 4 })
  .map((segments) => segments.map((segment) => `/${segment}`).join(""));

/**
 * An address of HTTP with a domain and a path, which may be empty. fast-check's `webUrl` takes each process a second and a
 * half for a table of all characters.
 */
export const anyWebUrl = fc
  .tuple(fc.constantFrom("http", "https"), fc.webAuthority(), path)
  .map(([scheme, domain, after]) => `${scheme}://${domain}${after}`);
