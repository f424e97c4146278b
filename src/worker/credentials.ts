import { statSync } from "node:fs";
import { readTableFile } from "../config/table-file.ts";
import { credentialSource } from "../models/credentials/source.ts";
import { environment, type SecretSource } from "../models/secrets.ts";
import type { Logger } from "../platform/log.ts";
import { check } from "../schema/check.ts";
import { Credentials, type CredentialsInput } from "../schema/credentials.ts";

/** Names the file that says where keys come from. */
const VARIABLE = "HOLDFAST_CREDENTIALS";

/** Who else may read or write it. */
const OTHERS = 0o077;

/** Where a worker's keys come from: as it is told, else as a file says that the environment names. */
export function credentialsOf(
  told: CredentialsInput | undefined,
  env: NodeJS.ProcessEnv,
  log: Pick<Logger, "warn">,
): SecretSource {
  const warn = (message: string) => log.warn({}, message);
  if (told !== undefined) return credentialSource(checked(told), warn);
  const path = env[VARIABLE];
  if (path === undefined || path === "") return environment;
  const credentials = readTableFile(
    path,
    {
      what: "The credentials",
      variable: VARIABLE,
      schema: Credentials,
      isSecret: ([, key]) => key === "value",
    },
    env,
  );
  const holdsValues = Object.values(credentials).some(({ value }) => value !== undefined);
  if (holdsValues && (statSync(path).mode & OTHERS) !== 0) {
    warn(`${path} holds keys, and others than its owner may open it: chmod 600 keeps it to the worker`);
  }
  return credentialSource(credentials, warn);
}

function checked(told: CredentialsInput): Credentials {
  const found = check(Credentials, told, "credentials");
  if (found.ok) return found.value;
  throw new TypeError(`The option credentials cannot be used: ${found.problems.join("; ")}`);
}
