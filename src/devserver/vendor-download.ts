import { readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { adopt, cachedBinary, withStagingFolder } from "./cache.ts";
import { runCommand } from "./command.ts";
import { CLI_VERSION, inspectBinary } from "./server-binary.ts";
import type { Attempt } from "./server-not-found-error.ts";

/** A slow line may need this long for 45 MB; a closed one answers at once or is noticed by the silence below. */
const DOWNLOAD_TIMEOUT_MS = 300_000;

/** No new byte for this long, and the line counts as dead. */
const SILENCE_MS = 20_000;

const PLACE = "vendor's download (@temporalio/testing)";

/**
 * The SDK's helper can only fetch by starting a server, so a short-lived process does both and leaves the file.
 *
 * Its own process, because the helper has no time limit and cannot be cancelled.
 */
const SCRIPT = `
const [testing, downloadDir, version] = process.argv.slice(1);
const { TestWorkflowEnvironment } = require(testing);
TestWorkflowEnvironment.createLocal({ server: { executable: { type: 'cached-download', downloadDir, version } } })
  .then((environment) => environment.teardown())
  .then(() => process.exit(0), (error) => {
    let words = error.message;
    for (let cause = error.cause; cause; cause = cause.cause) words += ': ' + cause.message;
    process.stderr.write(words);
    process.exit(1);
  });
`;

/** Fetches the vendor's release into the cache. An empty list means that it is there. */
export async function fetchFromVendor(cache: string, env: NodeJS.ProcessEnv): Promise<readonly Attempt[]> {
  const testing = createRequire(import.meta.url).resolve("@temporalio/testing");
  return withStagingFolder(cache, async (folder) => {
    const result = await runCommand(process.execPath, ["-e", SCRIPT, testing, folder, `v${CLI_VERSION}`], {
      timeoutMs: DOWNLOAD_TIMEOUT_MS,
      env,
      giveUp: silence(folder),
    });
    const name = filesIn(folder).find((file) => !file.endsWith(".downloading"));
    if (name === undefined) return [{ place: PLACE, said: result.said }];
    const file = join(folder, name);
    const inspection = await inspectBinary(file);
    if (inspection.type === "unusable") return [{ place: PLACE, said: inspection.said }];
    await adopt(file, cachedBinary(cache));
    return [];
  });
}

/** Gives a reason once the download has not grown for a while. */
function silence(folder: string): () => string | undefined {
  let bytes = -1;
  let since = Date.now();
  return () => {
    const now = filesIn(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
    if (now !== bytes) {
      bytes = now;
      since = Date.now();
    }
    return Date.now() - since > SILENCE_MS ? `nothing arrived for ${SILENCE_MS / 1000} s` : undefined;
  };
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder);
}
