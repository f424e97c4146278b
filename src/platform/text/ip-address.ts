/**
 * Returns the one spelling of an address that is compared: dotted decimal numbers, or IPv6 in its short form. An IPv4
 * address that is mapped to IPv6 (`::ffff:10.0.0.1`) becomes the IPv4 address. Returns undefined for everything else,
 * such as `127.1`, `0x7f000001` and addresses with a zone, which some resolvers take for addresses.
 */
export function canonicalizeAddress(text: string): string | undefined {
  if (!text.includes(":")) return parseIpv4(text)?.join(".");
  const groups = parseIpv6(text);
  if (groups === undefined) return undefined;
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join(".");
  }
  return formatIpv6(groups);
}

function parseIpv4(text: string): number[] | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  // A leading zero means octal to some resolvers.
  if (!parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) <= 255)) return undefined;
  return parts.map(Number);
}

/** Returns the eight groups of 16 bits. */
function parseIpv6(text: string): number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, index) => parseGroups(half, index === halves.length - 1));
  if (head === undefined) return undefined;
  if (halves.length === 1) return head.length === 8 ? head : undefined;
  if (tail === undefined || head.length + tail.length > 7) return undefined;
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

/** @param isLast - Whether the text may end with an IPv4 address, which is two groups. */
function parseGroups(text: string, isLast: boolean): number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) {
      groups.push(Number.parseInt(part, 16));
      continue;
    }
    const bytes = isLast && index === parts.length - 1 ? parseIpv4(part) : undefined;
    if (bytes === undefined) return undefined;
    groups.push((bytes[0]! << 8) | bytes[1]!, (bytes[2]! << 8) | bytes[3]!);
  }
  return groups.length <= 8 ? groups : undefined;
}

/** Shortens the first of the longest runs of at least two zeros, as RFC 5952 says. */
function formatIpv6(groups: readonly number[]): string {
  let [start, length] = [0, 1];
  for (let first = 0; first < groups.length; first += 1) {
    let end = first;
    while (groups[end] === 0) end += 1;
    if (end - first > length) [start, length] = [first, end - first];
  }
  const format = (part: readonly number[]) => part.map((group) => group.toString(16)).join(":");
  if (length < 2) return format(groups);
  return `${format(groups.slice(0, start))}::${format(groups.slice(start + length))}`;
}
