import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/**
 * Identifies the scope of process numbers: one boot of one kernel, and one pid namespace in it.
 * A claim from another scope says nothing about the processes of this host.
 */
export function getHostId(): string {
  try {
    const bootId = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${bootId}/${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

/** Shortens `getHostId()` to eight hex digits, for names. */
export function getShortHostId(): string {
  return createHash("sha256").update(getHostId()).digest("hex").slice(0, 8);
}
