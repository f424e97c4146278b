import type { Encryption } from "./encryption.ts";
import { PLAIN } from "./key-references.ts";

// A worker says in its identity at the server which keys it has, so that a client that has others finds out before it
// starts something. Names and fingerprints: nothing that opens anything.

const BEFORE_KEYS = " keys=";

/** The first is what is written; all are read. */
export type KeyNames = readonly string[];

export function keyNames({ ring, payloads }: Encryption): KeyNames {
  const names = ring?.ids.map((id) => `${id}:${ring.fingerprint(id)}`) ?? [];
  return payloads ? names : [PLAIN, ...names];
}

/** What a worker of these keys is known by at the server. */
export function identityWith(identity: string, encryption: Encryption): string {
  return encryption.ring === undefined
    ? identity
    : `${identity}${BEFORE_KEYS}${keyNames(encryption).join(",")}`;
}

export function identityWithout(identity: string): string {
  return identity.split(BEFORE_KEYS, 1)[0] ?? identity;
}

export function keysOfIdentity(identity: string): KeyNames {
  const names = identity.split(BEFORE_KEYS)[1]?.split(",") ?? [];
  return names.length === 0 ? [PLAIN] : names;
}

/** Whether each of two can read what the other writes. */
export function understand(one: KeyNames, other: KeyNames): boolean {
  return reads(one, other[0]) && reads(other, one[0]);
}

function reads(names: KeyNames, name: string | undefined): boolean {
  return name === undefined || name === PLAIN || names.includes(name);
}

/** Ids alone, for people. */
export function idsIn(names: KeyNames): string {
  const ids = names.filter((name) => name !== PLAIN).map((name) => `"${name.replace(/:[0-9a-f]*$/, "")}"`);
  return ids.length === 0 ? "no key" : ids.join(", ");
}
