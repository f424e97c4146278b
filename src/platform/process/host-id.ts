import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/**
 * Names the place where process numbers mean something: one start of one kernel, and one pid namespace in it.
 * A claim that was made elsewhere says nothing about the processes here.
 */
export function hostId(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot}/${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

/** `hostId()` short enough for a name: eight hex digits. */
export function hostMark(): string {
  return createHash("sha256").update(hostId()).digest("hex").slice(0, 8);
}
