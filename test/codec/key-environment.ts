import { randomBytes } from "node:crypto";

/** An environment with a key for each name: `{ A: … }` as base64. */
export function createKeyEnvironment(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, randomBytes(32).toString("base64")]));
}
