import { existsSync } from "node:fs";
import { findSecrets, redact } from "../platform/text/redact.ts";

// Finds the environment variables that contain a secret: by their names, by the shape of their values, and by the
// references of a key ring. A false positive only hides harmless text; a false negative exposes a key.

/** Parts of a name that mark its value as secret: `GITHUB_TOKEN`, `apiKey`, `DB_PASS`. */
const SECRET_PARTS: ReadonlySet<string> = new Set([
  "KEY",
  "KEYS",
  "APIKEY",
  "TOKEN",
  "TOKENS",
  "SECRET",
  "SECRETS",
  "PASSWORD",
  "PASSWORDS",
  "PASSWD",
  "PASS",
  "PASSPHRASE",
  "PASSCODE",
  "PWD",
  "PIN",
  "PAT",
  "AUTH",
  "BEARER",
  "COOKIE",
  "CREDENTIAL",
  "CREDENTIALS",
  "CREDS",
  "SIGNATURE",
  "SALT",
  "PRIVATE",
  "DSN",
]);
const SECRET_ENDING = /(?:PASSWORD|PASSWD|SECRET|TOKEN|APIKEY|ACCESSKEY|PRIVATEKEY|CREDENTIALS)$/;

/** Final parts of names whose value describes a secret (its location, lifetime, audience) and does not contain it. */
const REFERENCE_ENDING: ReadonlySet<string> = new Set([
  "FILE",
  "PATH",
  "DIR",
  "FOLDER",
  "NAME",
  "URL",
  "URI",
  "HOST",
  "PORT",
  "SOCK",
  "SOCKET",
  "TYPE",
  "MODE",
  "METHOD",
  "ENABLED",
  "DISABLED",
  "REQUIRED",
  "TTL",
  "EXPIRY",
  "SECONDS",
  "MS",
  "LENGTH",
  "SIZE",
  "LIMIT",
  "COUNT",
  "PREFIX",
  "HEADER",
  "ISSUER",
  "AUDIENCE",
]);

/** Names that look secret but are not: folders, public keys, and ids of keys. */
const NEVER_SECRET = /^(?:OLD)?PWD$|PUBLIC_?KEY|KEY_?ID$|^HOLDFAST_ENCRYPTION_KEYS$/;

/** Variables whose values are not secret; programs that tools start receive them. */
const PUBLIC_VALUES = ["HOME", "USER", "LOGNAME", "SHELL", "PWD", "HOSTNAME", "LANG", "TERM", "PATH"];

const PASSWORDS = /PASS|PWD|PIN$/;
const KEY_REFERENCE = /(?:^|[\s,])[^\s,=]+=env:([^\s,]+)/g;
const ADDRESS_WITH_PASSWORD = /[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:([^\s/@]+)@/gi;
const SWITCH_VALUE =
  /^(?:true|false|yes|no|on|off|none|null|auto|default|disabled|enabled|required|optional)$/i;

type Environment = Readonly<Record<string, string | undefined>>;

/** Shorter values occur in ordinary text; `platform/text/secret-forms.ts` skips them too. */
const MIN_LENGTH = 6;

export type SecretVariable = {
  readonly name: string;
  /** The whole value, or only its secret parts, such as the password of an address. */
  readonly secrets: readonly string[];
};

/** Finds the variables that contain a secret, in the environment's order. */
export function findSecretVariables(env: Environment): readonly SecretVariable[] {
  const ofKeyRing = new Set(
    [...(env["HOLDFAST_ENCRYPTION_KEYS"] ?? "").matchAll(KEY_REFERENCE)].map(([, name]) => name),
  );
  const publicValues = new Set(PUBLIC_VALUES.map((name) => env[name]));
  return Object.entries(env).flatMap(([name, value = ""]) => {
    if (value.length < MIN_LENGTH || PUBLIC_VALUES.includes(name)) return [];
    const isKey = ofKeyRing.has(name);
    const whole = isKey || (isSecretName(name) && mayBeSecret(name, value)) ? [value] : [];
    const secrets = [
      ...whole,
      ...(isKey ? getOtherEncodings(value) : []),
      ...findSecretsWithin(value),
    ].filter((secret) => secret.length >= MIN_LENGTH && !publicValues.has(secret));
    return secrets.length === 0 ? [] : [{ name, secrets: [...new Set(secrets)] }];
  });
}

/** Decides by the name alone whether a variable is secret. */
export function isSecretName(name: string): boolean {
  const parts = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter((part) => part !== "");
  const last = parts.at(-1) ?? "";
  if (NEVER_SECRET.test(parts.join("_")) || REFERENCE_ENDING.has(last)) return false;
  return parts.some((part) => SECRET_PARTS.has(part) || SECRET_ENDING.test(part));
}

function mayBeSecret(name: string, value: string): boolean {
  if (SWITCH_VALUE.test(value)) return false;
  // `MAX_TOKENS=100000` is a number of tokens; a password may be a number.
  if (/^\d{1,9}$/.test(value)) return PASSWORDS.test(name.toUpperCase());
  const isPath = /^(?:~|\.{1,2})?\//.test(value);
  return !(isPath && (value.startsWith("~") || value.startsWith(".") || existsSync(value)));
}

/** Finds passwords of addresses, and text that looks like a key. */
function findSecretsWithin(value: string): readonly string[] {
  const passwords = [...value.matchAll(ADDRESS_WITH_PASSWORD)].flatMap(([, password = ""]) => [
    password,
    decodeText(password),
  ]);
  return [...passwords, ...(redact(value) === value ? [] : findSecrets(value))];
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the other encodings of a key's bytes: base64 for hex, and hex for base64. */
function getOtherEncodings(text: string): readonly string[] {
  const key = text.trim();
  const bytes = Buffer.from(key, /^[0-9a-f]{64}$/i.test(key) ? "hex" : "base64");
  if (bytes.length < 16) return [];
  const encodings = [bytes.toString("hex"), bytes.toString("base64"), bytes.toString("base64url")];
  return encodings.filter((way) => way !== key);
}
