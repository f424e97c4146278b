import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/**
 * Names the place where process numbers mean something: one start of one kernel, and one pid namespace in it.
 * A claim that was made elsewhere says nothing about the processes here.
 */
export function getHostId(): string {
  try {
    const bootId = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${bootId}/${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

/** `getHostId()` short enough for a name: eight hex digits. */
export function getShortHostId(): string {
  return createHash("sha256").update(getHostId()).digest("hex").slice(0, 8);
}
