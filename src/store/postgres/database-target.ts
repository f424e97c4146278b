import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import { PostgresError } from "./postgres-error.ts";

/** Where a database is, and how it is spoken to. Read from an address by `parseDatabaseTarget`. */
export type DatabaseTarget = {
  /** For messages and logs: the address without the password. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** Where our tables lie. */
  readonly schema: string;
  readonly ssl: ConnectionOptions | false;
  readonly applicationName: string;
  /** How many connections a process opens at most for the transcript. */
  readonly maxConnections: number;
  /** Off for a pooler that gives each transaction another connection and keeps no prepared statements. */
  readonly prepares: boolean;
  /** Off for such a pooler too: who waits for news then looks once a second. */
  readonly listens: boolean;
};

const DEFAULT_SCHEMA = "holdfast";
const DEFAULT_PORT = 5432;
const MAX_CONNECTIONS = 10;
/** Longer names are cut by the server, and a cut name is another's. */
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
 * @throws PostgresError that names what is wrong, and never the address itself: it may hold a password.
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
  if (host === "") throw createTargetError("names no host (a socket's folder goes into ?host=/folder)");
  if (schema === "" || Buffer.byteLength(schema) > MAX_NAME_BYTES || schema.includes("\0")) {
    throw createTargetError(`names a schema that is empty or longer than ${MAX_NAME_BYTES} bytes`);
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
    prepares: parseSwitch("prepare", parameters.prepare, true),
    listens: parseSwitch("listen", parameters.listen, true),
  };
}

/** An address for people: without its password, whatever it is. */
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
    // A parser of the web's knows hosts and passwords in the schemes that it knows.
    url = new URL(address.replace(/^postgres(ql)?:\/\/(?=[/?]|$|[^@/]*@[/?])/, "postgresql://"));
  } catch {
    throw createTargetError("cannot be read: it looks like postgresql://user:password@host:5432/database");
  }
  if (url.protocol !== "postgresql:" && url.protocol !== "postgres:") {
    throw createTargetError(`begins with ${url.protocol}// where postgresql:// is meant`);
  }
  return url;
}

function parseParameters(url: URL): Parameters {
  const parameters: Parameters = {};
  for (const [name, value] of url.searchParams) {
    const known = PARAMETERS.find((one) => one === name);
    if (known === undefined) {
      throw createTargetError(`has a parameter "${name}", which is none of ${PARAMETERS.join(", ")}`);
    }
    parameters[known] = value;
  }
  return parameters;
}

const MODES = ["disable", "require", "verify-ca", "verify-full"] as const;

/** As libpq has them. Unless said, another host is spoken to in secret and must prove who it is. */
function resolveTls(host: string, parameters: Parameters): ConnectionOptions | false {
  const isNear = host.startsWith("/") || host === "localhost" || host === "::1" || /^127\./.test(host);
  const mode = parameters.sslmode ?? (isNear ? "disable" : "verify-full");
  if (!MODES.some((one) => one === mode)) {
    throw createTargetError(`has the sslmode "${mode}", which is none of ${MODES.join(", ")}`);
  }
  if (mode === "disable") return false;
  const file = (name: "sslrootcert" | "sslcert" | "sslkey") => {
    const path = parameters[name];
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      throw createTargetError(`names a file in ${name} that cannot be read: ${(error as Error).message}`);
    }
  };
  const ca = file("sslrootcert");
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(parameters.sslcert === undefined ? {} : { cert: file("sslcert") }),
    ...(parameters.sslkey === undefined ? {} : { key: file("sslkey") }),
    // Without a root certificate "require" is secret and proves nothing.
    rejectUnauthorized: mode !== "require" || ca !== undefined,
    ...(mode === "verify-full" ? {} : { checkServerIdentity: () => undefined }),
  };
}

function parsePoolSize(value: string | undefined): number {
  if (value === undefined) return MAX_CONNECTIONS;
  const size = Number(value);
  if (Number.isInteger(size) && size >= 1 && size <= 1000) return size;
  throw createTargetError(`has a pool of "${value}"; it is a number of connections from 1 to 1000`);
}

function parseSwitch(name: string, value: string | undefined, defaultValue: boolean): boolean {
  if (value === undefined) return defaultValue;
  if (value === "on" || value === "off") return value === "on";
  throw createTargetError(`has ${name}=${value}; it is on or off`);
}

function getNonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : text;
}

function createTargetError(what: string): PostgresError {
  return new PostgresError("unreachable", `The address of the database ${what}.`);
}
