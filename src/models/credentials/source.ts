import type { Credential, Credentials } from "../../schema/credentials.ts";
import { environment, type SecretSource } from "../secrets.ts";
import { CommandCredential } from "./command.ts";
import type { FetchedCredential } from "./credential.ts";
import { FileCredential } from "./file.ts";

/** Names that are configured come from where they are said to come from, all others from the worker's environment. */
export function credentialSource(
  credentials: Credentials,
  warn: (message: string) => void = () => undefined,
): SecretSource {
  const fetched = new Map<string, FetchedCredential>();
  for (const [name, credential] of Object.entries(credentials)) {
    const one = fetchedOf(name, credential, warn);
    if (one !== undefined) fetched.set(name, one);
  }
  const read = (name: string) => {
    const one = fetched.get(name);
    if (one !== undefined) return one.value;
    const said = Object.hasOwn(credentials, name) ? credentials[name] : undefined;
    return said?.value ?? environment(said?.environment ?? name);
  };
  return Object.assign(read, {
    prepare: async (names: readonly string[]) => {
      await Promise.all(names.map((name) => fetched.get(name)?.prepare()));
    },
    invalidate: (name: string, refused?: string) => {
      fetched.get(name)?.forget(refused);
      return fetched.has(name);
    },
    held: () => [...fetched.keys(), ...Object.keys(credentials)].flatMap((name) => read(name) ?? []),
  });
}

function fetchedOf(
  name: string,
  { command, timeoutSeconds, keepSeconds, file }: Credential,
  warn: (message: string) => void,
): FetchedCredential | undefined {
  if (file !== undefined) return new FileCredential(name, file, warn);
  if (command === undefined) return undefined;
  const keepMs = keepSeconds === undefined ? undefined : keepSeconds * 1000;
  return new CommandCredential(name, { command, timeoutMs: timeoutSeconds * 1000, keepMs });
}
