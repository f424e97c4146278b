import { join } from "node:path";
import type { Readable } from "node:stream";
import { EnvHttpProxyAgent, request } from "undici";
import { getCachedBinaryPath, hashFile, installFile, withStagingFolder } from "./binary-cache.ts";
import { extractTarEntry } from "./extract-tar-entry.ts";
import { BINARY_SHA256, CLI_VERSION } from "./inspect-binary.ts";
import type { Attempt } from "./server-not-found-error.ts";

/** A slow connection may need this long for 45 MB. A dead one fails at once, or after `SILENCE_MS`. */
const DOWNLOAD_TIMEOUT_MS = 300_000;

/** A connection without new bytes for this long counts as dead. */
const SILENCE_MS = 20_000;

/** The archive has 45 MB and unpacks to about 130 MB. */
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024;
const MAX_REDIRECTS = 5;

const DOWNLOAD_URL = "vendor's download (temporal.download)";
const ENTRY = "temporal";

/** The archive to download, and the checksum of its binary. Tests use their own. */
export interface ArchivePin {
  readonly url: string;
  readonly sha256: string | undefined;
}

const ARCH = { x64: "amd64", arm64: "arm64" } as Readonly<Record<string, string>>;

const PINNED_ARCHIVE: ArchivePin = {
  url: `https://temporal.download/cli/archive/v${CLI_VERSION}?platform=${process.platform}&arch=${ARCH[process.arch]}`,
  sha256: BINARY_SHA256[`${process.platform}-${process.arch}`],
};

/**
 * Downloads the vendor's own archive of the release and moves its binary into the cache, but only if its sha256 is that
 * of the release. An empty list means success.
 */
export async function fetchFromVendor(
  cache: string,
  env: NodeJS.ProcessEnv,
  { url, sha256 }: ArchivePin = PINNED_ARCHIVE,
): Promise<readonly Attempt[]> {
  const createFailure = (message: string): readonly Attempt[] => [
    { location: DOWNLOAD_URL, problem: message },
  ];
  if (sha256 === undefined)
    return createFailure(`no release is pinned for ${process.platform} ${process.arch}`);
  const dispatcher = createProxyDispatcher(env);
  try {
    return await withStagingFolder(cache, async (folder) => {
      const file = join(folder, ENTRY);
      await extractTarEntry(await openDownload(url, dispatcher), ENTRY, file, MAX_UNPACKED_BYTES);
      const found = await hashFile(file);
      if (found !== sha256)
        return createFailure(`the binary has sha256 ${found}, expected ${sha256}; not used`);
      await installFile(file, getCachedBinaryPath(cache));
      return [];
    });
  } catch (error) {
    return createFailure(formatError(error));
  } finally {
    await dispatcher.destroy();
  }
}

function createProxyDispatcher(env: NodeJS.ProcessEnv): EnvHttpProxyAgent {
  const getVariable = (name: string) => env[name] || env[name.toUpperCase()] || undefined;
  const [httpProxy, httpsProxy, noProxy] = [
    getVariable("http_proxy"),
    getVariable("https_proxy"),
    getVariable("no_proxy"),
  ];
  return new EnvHttpProxyAgent({
    // An empty string overrides the environment of this process.
    httpProxy: httpProxy ?? "",
    httpsProxy: httpsProxy ?? "",
    noProxy: noProxy ?? "",
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
    connectTimeout: SILENCE_MS,
  });
}

async function openDownload(url: string, dispatcher: EnvHttpProxyAgent): Promise<Readable> {
  const signal = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS);
  let address = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const { statusCode, headers, body } = await request(address, { dispatcher, signal });
    const { location } = headers;
    if (statusCode === 200) return body;
    await body.dump();
    if (statusCode < 300 || statusCode >= 400 || typeof location !== "string") {
      throw new Error(`${new URL(address).host} returned status ${statusCode}`);
    }
    address = new URL(location, address).href;
  }
  throw new Error(`more than ${MAX_REDIRECTS} redirects`);
}

function formatError(error: unknown): string {
  const text: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause) text.push(at.message || at.name);
  return text.join(": ") || String(error);
}
