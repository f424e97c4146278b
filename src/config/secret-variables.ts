import { existsSync } from "node:fs";
import { findSecrets, redact } from "../platform/text/redact.ts";

// Which variables of an environment hold a secret: by their names, by what their values look like, and those that name
// the keys of a key ring. Rather one too many: hiding a word that is no secret costs a reader less than showing a key.

/** Parts of a name that say that its value is secret: `GITHUB_TOKEN`, `apiKey`, `DB_PASS`. */
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

/** Last parts of names that say of a secret where it is, how long it lasts, who it is for, and not what it is. */
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

/** Names that look like one and are none: folders, and which key it is instead of the key. */
const NEVER_SECRET = /^(?:OLD)?PWD$|PUBLIC_?KEY|KEY_?ID$|^HOLDFAST_ENCRYPTION_KEYS$/;

/** Values of these are no secrets, and are passed on to what tools start. */
const PUBLIC_VALUES = ["HOME", "USER", "LOGNAME", "SHELL", "PWD", "HOSTNAME", "LANG", "TERM", "PATH"];

const PASSWORDS = /PASS|PWD|PIN$/;
const KEY_REFERENCE = /(?:^|[\s,])[^\s,=]+=env:([^\s,]+)/g;
const ADDRESS_WITH_PASSWORD = /[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:([^\s/@]+)@/gi;
const SWITCH_VALUE =
  /^(?:true|false|yes|no|on|off|none|null|auto|default|disabled|enabled|required|optional)$/i;

type Environment = Readonly<Record<string, string | undefined>>;

/** Shorter values are found in every second text; `core/secret-forms.ts` leaves them out too. */
const MIN_LENGTH = 6;

export type SecretVariable = {
  readonly name: string;
  /** The whole value, or the parts of it that are secret: the password of an address. */
  readonly secrets: readonly string[];
};

/** The variables that hold a secret, in the environment's order. */
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

/** By its name alone. */
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

/** Passwords of addresses, and whatever looks like a key wherever it stands. */
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

/** The bytes of a key in the other way of writing them: base64 for hex, and hex for base64. */
function getOtherEncodings(text: string): readonly string[] {
  const key = text.trim();
  const bytes = Buffer.from(key, /^[0-9a-f]{64}$/i.test(key) ? "hex" : "base64");
  if (bytes.length < 16) return [];
  const encodings = [bytes.toString("hex"), bytes.toString("base64"), bytes.toString("base64url")];
  return encodings.filter((way) => way !== key);
}
