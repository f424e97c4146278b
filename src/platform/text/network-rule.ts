import { canonicalizeAddress } from "./ip-address.ts";

/** Where a connection leads. */
export type Destination = {
  /** A lower-case name without a final dot, or an address as `canonicalizeAddress` returns it. */
  readonly host: string;
  readonly port: number;
  readonly isAddress: boolean;
};

/** A destination that is allowed, or all names below it. */
export type NetworkRule = Destination & { readonly includesSubdomainsOnly: boolean };

/** The limit of DNS. */
const MAX_NAME_CHARS = 253;

/** Parses `name:port`, `10.0.0.1:port` or `[::1]:port`. */
export function parseDestination(text: string): Destination | undefined {
  const match = /^(?:\[([0-9a-f:.]{2,45})\]|([^:[\]]+)):([0-9]{1,5})$/i.exec(text);
  if (match === null) return undefined;
  const [, ipv6, other = "", digits] = match;
  const port = Number(digits);
  if (port < 1 || port > 65_535 || digits?.startsWith("0")) return undefined;
  const address = canonicalizeAddress(ipv6 ?? other);
  if (address !== undefined) return { host: address, port, isAddress: true };
  if (ipv6 !== undefined) return undefined;
  const host = other.toLowerCase().replace(/\.$/, "");
  return isHostName(host) ? { host, port, isAddress: false } : undefined;
}

/** Parses a rule: a destination, or `*.name:port` for all names below `name`. */
export function parseNetworkRule(text: string): NetworkRule | undefined {
  const includesSubdomainsOnly = text.startsWith("*.");
  const destination = parseDestination(includesSubdomainsOnly ? text.slice(2) : text);
  if (destination === undefined || (includesSubdomainsOnly && destination.isAddress)) return undefined;
  return { ...destination, includesSubdomainsOnly };
}

/** Returns whether a rule allows a destination. An address is allowed only by a rule with the same address. */
export function matchesNetworkRule(rule: NetworkRule, { host, port, isAddress }: Destination): boolean {
  if (rule.port !== port || rule.isAddress !== isAddress) return false;
  return rule.includesSubdomainsOnly ? host.endsWith(`.${rule.host}`) : host === rule.host;
}

/** A name whose last label is a number is an address to some resolvers: `127.1`, `2130706433`, `0x7f.1`. */
function isHostName(text: string): boolean {
  if (text.length > MAX_NAME_CHARS) return false;
  const labels = text.split(".");
  const isWellFormed = labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
  return isWellFormed && !/^(?:[0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? "");
}
