import { statSync } from "node:fs";
import { readTableFile } from "../config/read-table-file.ts";
import { createCredentialSource } from "../models/credentials/credential-source.ts";
import { environmentSource, type SecretSource } from "../models/secrets.ts";
import type { Logger } from "../platform/log.ts";
import { check } from "../schema/check.ts";
import { Credentials, type CredentialsInput } from "../schema/credentials.ts";

/** The variable that names the file with the sources of keys. */
const VARIABLE = "HOLDFAST_CREDENTIALS";

/** The permission bits of other users. */
const OTHER_USERS_MODE = 0o077;

/** Creates the source of a worker's keys: as the option specifies, otherwise from a file that the environment names. */
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
      description: "The credentials",
      variable: VARIABLE,
      schema: Credentials,
      isSecret: ([, key]) => key === "value",
    },
    env,
  );
  const holdsValues = Object.values(credentials).some(({ value }) => value !== undefined);
  if (holdsValues && (statSync(path).mode & OTHER_USERS_MODE) !== 0) {
    warn(`${path} contains keys, and users other than its owner can open it: restrict it with chmod 600`);
  }
  return createCredentialSource(credentials, warn);
}

function parseCredentials(input: CredentialsInput): Credentials {
  const found = check(Credentials, input, "credentials");
  if (found.ok) return found.value;
  throw new TypeError(`The option credentials cannot be used: ${found.problems.join("; ")}`);
}
