import { PLAIN } from "./key-references.ts";
import type { Encryption } from "./resolve-encryption.ts";

// A worker lists its keys in its identity at the server, so that a client with other keys detects the mismatch before it
// starts a run. The list contains names and fingerprints, which cannot decrypt anything.

const KEYS_LABEL = " keys=";

/** Names of keys. The first one encrypts; all of them decrypt. */
export type KeyNames = readonly string[];

export function getKeyNames({ ring, payloads }: Encryption): KeyNames {
  const names = ring?.ids.map((id) => `${id}:${ring.fingerprint(id)}`) ?? [];
  return payloads ? names : [PLAIN, ...names];
}

/** Adds the keys to a worker's identity at the server. */
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

/** Checks whether two processes can read each other's data. */
export function canReadEachOther(one: KeyNames, other: KeyNames): boolean {
  return canRead(one, other[0]) && canRead(other, one[0]);
}

function canRead(names: KeyNames, name: string | undefined): boolean {
  return name === undefined || name === PLAIN || names.includes(name);
}

/** Formats the ids of the keys for users. */
export function listKeyIds(names: KeyNames): string {
  const ids = names.filter((name) => name !== PLAIN).map((name) => `"${name.replace(/:[0-9a-f]*$/, "")}"`);
  return ids.length === 0 ? "no key" : ids.join(", ");
}
