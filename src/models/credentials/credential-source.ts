import type { Credential, Credentials } from "../../schema/credentials.ts";
import { environmentSource, type SecretSource } from "../secrets.ts";
import { CommandCredential } from "./command-credential.ts";
import type { FetchedCredential } from "./fetched-credential.ts";
import { FileCredential } from "./file-credential.ts";

/** Creates a source that reads configured names as configured, and all others from the worker's environment. */
export function createCredentialSource(
  credentials: Credentials,
  warn: (message: string) => void = () => undefined,
): SecretSource {
  const fetched = new Map<string, FetchedCredential>();
  for (const [name, credential] of Object.entries(credentials)) {
    const one = createFetchedCredential(name, credential, warn);
    if (one !== undefined) fetched.set(name, one);
  }
  const read = (name: string) => {
    const one = fetched.get(name);
    if (one !== undefined) return one.value;
    const given = Object.hasOwn(credentials, name) ? credentials[name] : undefined;
    return given?.value ?? environmentSource(given?.environment ?? name);
  };
  return Object.assign(read, {
    prepare: async (names: readonly string[]) => {
      await Promise.all(names.map((name) => fetched.get(name)?.prepare()));
    },
    invalidate: (name: string, rejected?: string) => {
      fetched.get(name)?.invalidate(rejected);
      return fetched.has(name);
    },
    knownValues: () => [...fetched.keys(), ...Object.keys(credentials)].flatMap((name) => read(name) ?? []),
  });
}

function createFetchedCredential(
  name: string,
  { command, timeoutSeconds, keepSeconds, file }: Credential,
  warn: (message: string) => void,
): FetchedCredential | undefined {
  if (file !== undefined) return new FileCredential(name, file, warn);
  if (command === undefined) return undefined;
  const keepMs = keepSeconds === undefined ? undefined : keepSeconds * 1000;
  return new CommandCredential(name, { command, timeoutMs: timeoutSeconds * 1000, keepMs });
}
