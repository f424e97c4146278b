import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { NotPlayableError } from "../environment.mjs";

/**
 * The environment of a process whose clock is off by what a file says: `+0`, `-3600`.
 *
 * @throws NotPlayableError where there is no libfaketime, which moves the clock of native code as well.
 */
export function createMovableClock(file) {
  const library = readdirSync("/usr/lib")
    .map((folder) => join("/usr/lib", folder, "faketime", "libfaketimeMT.so.1"))
    .find((path) => existsSync(path));
  if (library === undefined)
    throw new NotPlayableError(
      "there is no libfaketime on this machine (Debian: apt-get install libfaketime)",
    );
  return {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    // Otherwise a wait for a moment of the clock, in an event loop, would be an hour longer than meant.
    FAKETIME_DONT_RESET: "1",
  };
}
