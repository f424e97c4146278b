import { statSync } from "node:fs";
import { readTableFile } from "../config/read-table-file.ts";
import { createCredentialSource } from "../models/credentials/credential-source.ts";
import { environmentSource, type SecretSource } from "../models/secrets.ts";
import type { Logger } from "../platform/log.ts";
import { check } from "../schema/check.ts";
import { Credentials, type CredentialsInput } from "../schema/credentials.ts";

/** Names the file that says where keys come from. */
const VARIABLE = "HOLDFAST_CREDENTIALS";

/** Who else may read or write it. */
const OTHER_USERS_MODE = 0o077;

/** Where a worker's keys come from: as it is told, else as a file says that the environment names. */
export function createSecretSource(
  option: CredentialsInput | undefined,
  env: NodeJS.ProcessEnv,
  log: Pick<Logger, "warn">,
): SecretSource {
  const warn = (message: string) => log.warn({}, message);
  if (option !== undefined) return createCredentialSource(parseCredentials(option), warn);
  const path = env[VARIABLE];
  if (path === undefined || path === "") return environmentSource;
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
  if (holdsValues && (statSync(path).mode & OTHER_USERS_MODE) !== 0) {
    warn(`${path} holds keys, and others than its owner may open it: chmod 600 keeps it to the worker`);
  }
  return createCredentialSource(credentials, warn);
}

function parseCredentials(input: CredentialsInput): Credentials {
  const found = check(Credentials, input, "credentials");
  if (found.ok) return found.value;
  throw new TypeError(`The option credentials cannot be used: ${found.problems.join("; ")}`);
}
