import { isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalizeAddress } from "../../../src/platform/text/ip-address.ts";
import {
  matchesNetworkRule,
  parseDestination,
  parseNetworkRule,
} from "../../../src/platform/text/network-rule.ts";
import { must } from "../../support/must.ts";

describe("an address", () => {
  test.each([
    ["127.0.0.1", "127.0.0.1"],
    ["::", "::"],
    ["::1", "::1"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"],
    ["::ffff:127.0.0.1", "127.0.0.1"],
    ["::FFFF:7f00:1", "127.0.0.1"],
    ["::127.0.0.1", "::7f00:1"],
    ["64:ff9b::10.0.0.1", "64:ff9b::a00:1"],
  ])("%s is %s", (text, canonical) => {
    expect(canonicalizeAddress(text)).toBe(canonical);
  });

  test.each([
    ["", "127.1", "127.0.0.01", "0x7f.0.0.1", "2130706433", "256.0.0.1", "1.2.3.4.5", "1.2.3.4:80"],
    [
      "::1%eth0",
      ":::",
      "1::2::3",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
      "1:2:3:4:5:6:7::8",
      "12345::",
      "::1.2.3",
    ],
    ["::1.2.3.4:5", "1.2.3.4::", "[::1]"],
  ])("these texts are none: %s …", (...texts) => {
    expect(texts.map(canonicalizeAddress)).toEqual(texts.map(() => undefined));
  });

  test("every address that the system takes has one canonical form", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const canonical = canonicalizeAddress(text);
        must(canonical !== undefined, `${text} is an address`);
        must(isIP(canonical) !== 0, `${canonical} is an address`);
        must(canonicalizeAddress(canonical) === canonical, `${canonical} is canonical`);
      }),
    );
  });
});

describe("a destination", () => {
  test.each([
    ["example.com:443", { host: "example.com", port: 443, isAddress: false }],
    ["EXAMPLE.com.:443", { host: "example.com", port: 443, isAddress: false }],
    ["localhost:80", { host: "localhost", port: 80, isAddress: false }],
    ["10.0.0.1:1", { host: "10.0.0.1", port: 1, isAddress: true }],
    ["[::1]:65535", { host: "::1", port: 65_535, isAddress: true }],
    ["[::ffff:10.0.0.1]:80", { host: "10.0.0.1", port: 80, isAddress: true }],
  ])("%s", (text, destination) => {
    expect(parseDestination(text)).toEqual(destination);
  });

  test.each([
    "example.com",
    "example.com:",
    "example.com:0",
    "example.com:065",
    "example.com:65536",
    "example.com:+80",
    "user@example.com:80",
    "example.com/x:80",
    "exa mple.com:80",
    "example..com:80",
    "-a.com:80",
    "a-.com:80",
    ".com:80",
    "127.1:80",
    "2130706433:80",
    "0x7f000001:80",
    "a.0x1f:80",
    "::1:80",
    "[example.com]:80",
    "[127.0.0.1:80",
    "exämple.com:80",
    "example.com:80\n",
    "example.com%00:80",
    `${"a".repeat(64)}.com:80`,
    `${"a.".repeat(127)}com:80`,
  ])("%j is none", (text) => {
    expect(parseDestination(text)).toBeUndefined();
  });
});

describe("a rule", () => {
  const allows = (rule: string, destination: string) =>
    matchesNetworkRule(parseNetworkRule(rule)!, parseDestination(destination)!);

  test.each([
    ["example.com:443", "EXAMPLE.COM:443", true],
    ["example.com:443", "example.com:80", false],
    ["example.com:443", "a.example.com:443", false],
    ["example.com:443", "notexample.com:443", false],
    ["*.example.com:443", "a.example.com:443", true],
    ["*.example.com:443", "a.b.example.com:443", true],
    ["*.example.com:443", "example.com:443", false],
    ["*.example.com:443", "notexample.com:443", false],
    ["10.0.0.1:80", "[::ffff:10.0.0.1]:80", true],
    ["[::1]:80", "[0:0:0:0:0:0:0:1]:80", true],
    ["10.0.0.1:80", "10.0.0.2:80", false],
  ])("%s and %s: %s", (rule, destination, expected) => {
    expect(allows(rule, destination)).toBe(expected);
  });

  test.each([
    "*:443",
    "*.10.0.0.1:80",
    "*.com",
    "a.*.com:80",
    "**.com:80",
    "*.[::1]:80",
    "",
    "example.com:*",
  ])("%j is none", (text) => {
    expect(parseNetworkRule(text)).toBeUndefined();
  });
});
