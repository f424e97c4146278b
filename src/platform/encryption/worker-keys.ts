import { PLAIN } from "./key-references.ts";
import type { Encryption } from "./resolve-encryption.ts";

// A worker says in its identity at the server which keys it has, so that a client that has others finds out before it
// starts something. Names and fingerprints: nothing that opens anything.

const KEYS_LABEL = " keys=";

/** The first is what is written; all are read. */
export type KeyNames = readonly string[];

export function getKeyNames({ ring, payloads }: Encryption): KeyNames {
  const names = ring?.ids.map((id) => `${id}:${ring.fingerprint(id)}`) ?? [];
  return payloads ? names : [PLAIN, ...names];
}

/** What a worker of these keys is known by at the server. */
export function addKeysToIdentity(identity: string, encryption: Encryption): string {
  return encryption.ring === undefined
    ? identity
    : `${identity}${KEYS_LABEL}${getKeyNames(encryption).join(",")}`;
}

export function removeKeysFromIdentity(identity: string): string {
  return identity.split(KEYS_LABEL, 1)[0] ?? identity;
}

export function parseIdentityKeys(identity: string): KeyNames {
  const names = identity.split(KEYS_LABEL)[1]?.split(",") ?? [];
  return names.length === 0 ? [PLAIN] : names;
}

/** Whether each of two can read what the other writes. */
export function canReadEachOther(one: KeyNames, other: KeyNames): boolean {
  return canRead(one, other[0]) && canRead(other, one[0]);
}

function canRead(names: KeyNames, name: string | undefined): boolean {
  return name === undefined || name === PLAIN || names.includes(name);
}

/** Ids alone, for people. */
export function listKeyIds(names: KeyNames): string {
  const ids = names.filter((name) => name !== PLAIN).map((name) => `"${name.replace(/:[0-9a-f]*$/, "")}"`);
  return ids.length === 0 ? "no key" : ids.join(", ");
}
