import { resolve } from "node:path";
import type { McpServer } from "../../../schema/mcp.ts";
import { SandboxSettings } from "../../../schema/sandbox.ts";

/** In which sandbox the process of a server runs. Servers that are reached over HTTP have no process here. */
export type ServerPlace = {
  readonly sandbox: SandboxSettings;
  /** The folder that the process may write. */
  readonly workspace: string;
};

/** Returns the settings that a server states for itself. */
export function getOwnSandbox({ transport }: McpServer): SandboxSettings | undefined {
  return transport.type === "stdio" ? transport.sandbox : undefined;
}

/** Reads the place that a server's tools were pinned with. Pins of earlier releases have none. */
export function readPinnedPlace(
  data: Readonly<Record<string, unknown>> | undefined,
): ServerPlace | undefined {
  const { sandbox, workspace } = data ?? {};
  if (typeof workspace !== "string") return undefined;
  return { sandbox: SandboxSettings.parse(sandbox), workspace };
}

/** Returns the same text for places where users may share one process: without a sandbox, in every workspace. */
export function formatPlace({ transport }: McpServer, { sandbox, workspace }: ServerPlace): string {
  if (transport.type === "http") return "";
  return JSON.stringify(sandbox.mode === "off" ? [sandbox] : [sandbox, resolve(workspace)]);
}
