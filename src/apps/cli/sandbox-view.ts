import type { SandboxConnection, SandboxReport } from "../../schema/sandbox.ts";

/** The most connections of one call that a view lists. */
const MAX_LISTED = 10;

/** Describes where the processes of a call have run, after the name of its tool. */
export function describeSandboxMode({ mode, isReadOnly }: SandboxReport): string {
  return `sandbox ${mode}${isReadOnly === true ? ", read-only" : ""}`;
}

/** Formats what the processes of a call have done in their sandbox: connections, and files that were moved away. */
export function formatSandboxActs(report: SandboxReport): readonly string[] {
  const { connections = [], moreConnections = 0, moved = [] } = report;
  const listed = connections.slice(0, MAX_LISTED).map(formatConnection);
  const more = connections.length - listed.length + moreConnections;
  const all = more === 0 ? listed : [...listed, `${more} more`];
  return [
    ...(all.length === 0 ? [] : [`connections: ${all.join(", ")}`]),
    ...moved.map(({ path, movedTo }) => `moved: ${path} to ${movedTo}`),
  ];
}

function formatConnection({ host, port, decision, reason, bytesUp, bytesDown }: SandboxConnection): string {
  const place = host === undefined ? "unknown" : `${host.includes(":") ? `[${host}]` : host}:${port ?? "?"}`;
  if (decision === "refused") return `${place} (refused${reason === undefined ? "" : `: ${reason}`})`;
  const sizes = [
    ...(bytesUp === 0 ? [] : [`${formatBytes(bytesUp)} up`]),
    ...(bytesDown === 0 ? [] : [`${formatBytes(bytesDown)} down`]),
    ...(reason === undefined ? [] : [reason]),
  ];
  return sizes.length === 0 ? place : `${place} (${sizes.join(", ")})`;
}

function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999_500) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
