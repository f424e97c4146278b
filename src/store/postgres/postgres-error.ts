/** Why PostgreSQL failed. The names are those of the transcript's own faults. */
export type PostgresFault = "busy" | "full" | "read-only" | "unreachable" | "damaged" | "newer" | "other";

export class PostgresError extends Error {
  override readonly name = "PostgresError";
  readonly fault: PostgresFault;

  constructor(fault: PostgresFault, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.fault = fault;
  }
}

/** The advice for the user, by fault. */
const ADVICE: Record<PostgresFault, string> = {
  busy: "Holdfast retries. If the problem persists, check pg_stat_activity for the holder of the lock or the connections.",
  full: "Free space on the database's disk; the store then resumes by itself.",
  "read-only":
    "Grant the role write access to the schema, or use the address of the primary server; the store then resumes by itself.",
  unreachable: "Check that the server runs, and that address, role, password and TLS mode are correct.",
  damaged: "Nothing was changed. Restore a backup, or use another schema.",
  newer: "It was not changed. Run the newer version of Holdfast, or use another schema.",
  other: "Please report this with the text above.",
};

export function createPostgresError(
  fault: PostgresFault,
  name: string,
  what: string,
  cause?: unknown,
): PostgresError {
  const message = `PostgreSQL ${name}: ${what}. ${ADVICE[fault]}`;
  return cause === undefined
    ? new PostgresError(fault, message)
    : new PostgresError(fault, message, { cause });
}

/**
 * The diagnosis of an error: its fault, and whether a retry can succeed: at once, because another transaction interfered,
 * or later, when the server is back.
 */
export type Diagnosis = {
  readonly fault: PostgresFault;
  readonly retry: "at-once" | "later" | "never";
};

/** Classes and codes: https://www.postgresql.org/docs/current/errcodes-appendix.html. The first match applies. */
const DIAGNOSES: readonly (readonly [prefix: string, ...Diagnosis[]])[] = (
  [
    // Serialization failures, deadlocks, and rows that another transaction has created or removed since they were read.
    ["40", "busy", "at-once"],
    ["23503", "busy", "at-once"],
    ["23505", "busy", "at-once"],
    // The tables have changed under a prepared statement.
    ["0A000", "other", "at-once"],
    ["55P03", "busy", "never"],
    ["57014", "busy", "never"],
    ["53300", "busy", "later"],
    ["53100", "full", "never"],
    ["53", "busy", "later"],
    // A server that is stopping, has crashed, or is starting; a session that was terminated.
    ["57P", "unreachable", "later"],
    ["08", "unreachable", "later"],
    ["25P03", "unreachable", "later"],
    ["25P04", "unreachable", "later"],
    // A standby: after a failover another server is the primary.
    ["25006", "read-only", "later"],
    ["42501", "read-only", "never"],
    ["28", "unreachable", "never"],
    ["3D", "unreachable", "never"],
    ["42P01", "damaged", "never"],
    ["42703", "damaged", "never"],
    ["3F", "damaged", "never"],
    ["XX001", "damaged", "never"],
    ["XX002", "damaged", "never"],
  ] as const
).map(([prefix, fault, again]) => [prefix, { fault, retry: again }]);

/** Node's codes of network errors. */
const UNREACHABLE = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "EAI_AGAIN",
  "ENOTFOUND",
]);
/** The driver's own messages, which have no code. */
const CONNECTION_LOST = /^(Connection terminated|Query read timeout|Client (has encountered|was closed))/;
const POOL_EMPTY = "timeout exceeded when trying to connect";
const NO_PASSWORD = /^SASL/;
const NO_TLS = /does not support SSL connections/;

export function diagnose(error: unknown): Diagnosis {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === "string") {
    if (UNREACHABLE.has(code)) return { fault: "unreachable", retry: "later" };
    const known = DIAGNOSES.find(([prefix]) => code.startsWith(prefix));
    if (known?.[1] !== undefined) return known[1];
    if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) {
      return { fault: "unreachable", retry: "never" };
    }
  }
  const message = error instanceof Error ? error.message : String(error);
  if (CONNECTION_LOST.test(message)) return { fault: "unreachable", retry: "later" };
  if (message === POOL_EMPTY) return { fault: "busy", retry: "later" };
  if (NO_TLS.test(message) || NO_PASSWORD.test(message)) return { fault: "unreachable", retry: "never" };
  return { fault: "other", retry: "never" };
}

/** Checks whether the server itself has answered, so that the connection is still usable. */
export function isAnswer(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && !/^(57P|08|25P0[34]|EPIPE)/.test(code);
}

export function getErrorMessage(error: unknown): string {
  const { message = String(error), code } = error as { message?: string; code?: unknown };
  const text = message === "" ? "" : message.replace(/\s+/g, " ").trim();
  const hint = HINTS.find(([pattern]) => pattern.test(`${text} ${code}`))?.[1] ?? "";
  return `${text}${typeof code === "string" ? ` (${code})` : ""}${hint}`;
}

/** Hints about a missing part of the address that the server's message does not mention. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [/prepared statement .* (26000|42P05)$/, "; behind a pooler add prepare=off to the address"],
  [NO_TLS, "; in a private network add sslmode=disable to the address"],
  [NO_PASSWORD, "; the address or PGPASSWORD must contain a password"],
];
