import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { PostgresError } from "./postgres-error.ts";

/** The location of a database and the settings of its connections. `parseDatabaseTarget` reads it from an address. */
export type DatabaseTarget = {
  /** The address without the password, for messages and logs. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** The schema that contains the tables. */
  readonly schema: string;
  readonly ssl: ConnectionOptions | false;
  readonly applicationName: string;
  /** The maximum number of connections of a process for the transcript. */
  readonly maxConnections: number;
  /** Uses prepared statements. Off for a pooler that uses another connection for each transaction and supports none. */
  readonly usesPreparedStatements: boolean;
  /** Listens for notifications. Off for such a pooler too: watchers then poll once a second. */
  readonly usesNotifications: boolean;
};

const DEFAULT_SCHEMA = "holdfast";
const DEFAULT_PORT = 5432;
const MAX_CONNECTIONS = 10;
/** The server truncates longer names, which could then collide. */
const MAX_NAME_BYTES = 63;

const PARAMETERS = [
  "host",
  "schema",
  "pool",
  "prepare",
  "listen",
  "application_name",
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
] as const;
type Parameters = Partial<Record<(typeof PARAMETERS)[number], string>>;

/**
 * Reads `postgresql://user:password@host:port/database?schema=…`.
 *
 * @throws PostgresError with the problem, but never with the address, which may contain a password.
 */
export function parseDatabaseTarget(address: string): DatabaseTarget {
  const url = parseUrl(address);
  const parameters = parseParameters(url);
  const host = parameters.host ?? decodeURIComponent(url.hostname.replace(/^\[(.*)\]$/, "$1"));
  const user = getNonEmpty(decodeURIComponent(url.username)) ?? getNonEmpty(process.env["PGUSER"]);
  const database =
    getNonEmpty(decodeURIComponent(url.pathname.slice(1))) ?? getNonEmpty(process.env["PGDATABASE"]) ?? user;
  const port = url.port === "" ? DEFAULT_PORT : Number(url.port);
  const schema = parameters.schema ?? DEFAULT_SCHEMA;
  if (host === "") throw createTargetError("contains no host (specify a socket's folder as ?host=/folder)");
  if (schema === "" || Buffer.byteLength(schema) > MAX_NAME_BYTES || schema.includes("\0")) {
    throw createTargetError(`contains a schema name that is empty or longer than ${MAX_NAME_BYTES} bytes`);
  }
  const at = host.startsWith("/") ? `${host}:${port}` : `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return {
    name: `postgresql://${user === undefined ? "" : `${user}@`}${at}/${database ?? ""} (schema ${schema})`,
    host,
    port,
    user,
    password: getNonEmpty(decodeURIComponent(url.password)) ?? getNonEmpty(process.env["PGPASSWORD"]),
    database,
    schema,
    ssl: resolveTls(host, parameters),
    applicationName: parameters.application_name ?? "holdfast",
    maxConnections: parsePoolSize(parameters.pool),
    usesPreparedStatements: parseSwitch("prepare", parameters.prepare, true),
    usesNotifications: parseSwitch("listen", parameters.listen, true),
  };
}

/** Removes the password from an address of any kind, for display. */
export function maskPassword(address: string): string {
  try {
    return parseDatabaseTarget(address).name;
  } catch {
    return "(an address that cannot be read)";
  }
}

function parseUrl(address: string): URL {
  let url: URL;
  try {
    // The URL parser recognises hosts and passwords only in known schemes.
    url = new URL(address.replace(/^postgres(ql)?:\/\/(?=[/?]|$|[^@/]*@[/?])/, "postgresql://"));
  } catch {
    throw createTargetError(
      "cannot be parsed: it must have the form postgresql://user:password@host:5432/database",
    );
  }
  if (url.protocol !== "postgresql:" && url.protocol !== "postgres:") {
    throw createTargetError(`begins with ${url.protocol}//, but must begin with postgresql://`);
  }
  return url;
}

function parseParameters(url: URL): Parameters {
  const parameters: Parameters = {};
  for (const [name, value] of url.searchParams) {
    const known = PARAMETERS.find((one) => one === name);
    if (known === undefined) {
      throw createTargetError(`has the unknown parameter "${name}"; known are ${PARAMETERS.join(", ")}`);
    }
    parameters[known] = value;
  }
  return parameters;
}

const MODES = ["disable", "require", "verify-ca", "verify-full"] as const;

/** Resolves the TLS modes of libpq. By default, connections to another host are encrypted and its certificate is verified. */
function resolveTls(host: string, parameters: Parameters): ConnectionOptions | false {
  const isNear = host.startsWith("/") || host === "localhost" || host === "::1" || /^127\./.test(host);
  const mode = parameters.sslmode ?? (isNear ? "disable" : "verify-full");
  if (!MODES.some((one) => one === mode)) {
    throw createTargetError(`has the unknown sslmode "${mode}"; known are ${MODES.join(", ")}`);
  }
  if (mode === "disable") return false;
  const file = (name: "sslrootcert" | "sslcert" | "sslkey") => {
    const path = parameters[name];
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      throw createTargetError(`specifies a file in ${name} that cannot be read: ${(error as Error).message}`);
    }
  };
  const ca = file("sslrootcert");
  return {
    ...omitUndefined({ ca }),
    ...(parameters.sslcert === undefined ? {} : { cert: file("sslcert") }),
    ...(parameters.sslkey === undefined ? {} : { key: file("sslkey") }),
    // Without a root certificate "require" encrypts, but does not verify the server.
    rejectUnauthorized: mode !== "require" || ca !== undefined,
    ...(mode === "verify-full" ? {} : { checkServerIdentity: () => undefined }),
  };
}

function parsePoolSize(value: string | undefined): number {
  if (value === undefined) return MAX_CONNECTIONS;
  const size = Number(value);
  if (Number.isInteger(size) && size >= 1 && size <= 1000) return size;
  throw createTargetError(`has the pool "${value}", which must be a number of connections from 1 to 1000`);
}

function parseSwitch(name: string, value: string | undefined, defaultValue: boolean): boolean {
  if (value === undefined) return defaultValue;
  if (value === "on" || value === "off") return value === "on";
  throw createTargetError(`has ${name}=${value}, which must be on or off`);
}

function getNonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : text;
}

function createTargetError(what: string): PostgresError {
  return new PostgresError("unreachable", `The address of the database ${what}.`);
}
