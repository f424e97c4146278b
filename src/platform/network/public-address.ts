import { lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

// Limits the addresses that a third-party document or a sandboxed process may connect to: the public network, not the
// worker's own.

const PRIVATE_NETWORKS = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // The metadata service of Azure; those of other clouds are in private ranges.
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const) {
  PRIVATE_NETWORKS.addSubnet(network, bits, "ipv4");
}
for (const [network, bits] of [
  // Addresses that contain an IPv4 address: compatible, translated (NAT64), Teredo, 6to4.
  ["::", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2001::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const) {
  PRIVATE_NETWORKS.addSubnet(network, bits, "ipv6");
}

/**
 * Returns whether an address is not on the public network: loopback, link-local, private, metadata, multicast, reserved.
 * An IPv4 address mapped to IPv6 is treated as the IPv4 address.
 */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && PRIVATE_NETWORKS.check(address, family === 4 ? "ipv4" : "ipv6");
}

/** Returns whether a host is known not to be on the public network, without a DNS lookup. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (isIP(host) !== 0) return isPrivateAddress(host);
  return !host.includes(".") || /\.(localhost|local|internal|lan|home\.arpa)$/i.test(host);
}

/** Resolves a name as usual, and rejects private addresses: the connection uses exactly the checked address. */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, []);
    const privateAddress = addresses.find(({ address }) => isPrivateAddress(address));
    if (privateAddress !== undefined)
      return callback(createPrivateAddressError(hostname, privateAddress.address), []);
    const [first] = addresses;
    if (options.all === true || first === undefined) return callback(null, addresses);
    callback(null, first.address, first.family);
  });
};

function createPrivateAddressError(hostname: string, address: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} leads to ${address}, which is not public`), {
    code: "ERR_NOT_PUBLIC",
  });
}
