import { asObject } from "../../platform/text/json.ts";
import {
  matchesNetworkRule,
  type NetworkRule,
  parseDestination,
  parseNetworkRule,
} from "../../platform/text/network-rule.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { Entry } from "../../schema/record.ts";
import type { SandboxReport, SandboxSettings } from "../../schema/sandbox.ts";
import { ALLOW_HOST_TOOL } from "../../tools/builtin/allow-host-tool.ts";
import type { OpenSandbox, SandboxUse } from "../../tools/sandbox/sandboxes.ts";
import type { Dependencies } from "../dependencies.ts";
import { listEarlierResults } from "./earlier-results.ts";

/** The sandbox of one call's processes. */
export type CallSandbox = {
  /** Opens it; the same one every time. */
  readonly open: () => Promise<OpenSandbox>;
  /** Replaces what is known of it, for a tool whose processes live longer than the call. */
  readonly note: (report: SandboxReport) => void;
  /** Returns what happened in it so far; `undefined` if the call has started no process. */
  readonly getReport: () => SandboxReport | undefined;
  /** Returns what the model must know of what happened in it; nothing in most cases. */
  readonly describe: (settings: SandboxSettings) => readonly string[];
};

export function createCallSandbox(openSandbox: () => Promise<OpenSandbox>): CallSandbox {
  let opening: Promise<OpenSandbox> | undefined;
  let getReport: () => SandboxReport | undefined = () => undefined;
  let isNoted = false;
  return {
    open: () => {
      opening ??= openSandbox().then((opened) => {
        getReport = () => opened.recorder.getReport();
        return opened;
      });
      return opening;
    },
    note: (report) => {
      isNoted = true;
      getReport = () => report;
    },
    getReport: () => getReport(),
    describe: (settings) => {
      const report = getReport();
      // What the user allows does not apply to processes that live longer than the call.
      const asked = isNoted ? [] : (settings.network.ask ?? []);
      return report === undefined ? [] : describeSandbox(report, asked);
    },
  };
}

/** What the model must know of what happened in the sandbox; nothing in most cases. */
function describeSandbox(
  { mode, connections = [], moved = [] }: SandboxReport,
  ask: readonly string[],
): readonly string[] {
  if (mode === "off") return [];
  const asked = ask.flatMap((text) => parseNetworkRule(text) ?? []);
  const refused = new Map<string, string>();
  for (const { host, port, decision, reason } of connections) {
    if (decision !== "refused" || host === undefined || port === undefined) continue;
    const place = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
    const destination = parseDestination(place);
    const canAsk = destination !== undefined && asked.some((rule) => matchesNetworkRule(rule, destination));
    refused.set(place, canAsk ? `needs the user's approval: call ${ALLOW_HOST_TOOL}` : (reason ?? "refused"));
  }
  return [
    ...[...refused]
      .slice(0, MAX_NOTES)
      .map(([place, why]) => `[sandbox] Connection refused: ${place} (${why})`),
    ...moved
      .slice(0, MAX_NOTES)
      .map(({ path, movedTo }) => `[sandbox] ${path} may not be created; it was renamed to ${movedTo}`),
  ];
}

const MAX_NOTES = 10;

/** Returns the destinations that the user has allowed in the conversation. */
function listGrantedHosts(
  { network }: SandboxSettings,
  entries: readonly Pick<Entry, "message">[],
): readonly NetworkRule[] {
  const asked = (network.ask ?? []).flatMap((text) => parseNetworkRule(text) ?? []);
  return listEarlierResults({ name: ALLOW_HOST_TOOL }, entries).flatMap(({ details }) => {
    const text = asObject(details)?.["destination"];
    const destination = typeof text === "string" ? parseDestination(text) : undefined;
    if (destination === undefined || !asked.some((rule) => matchesNetworkRule(rule, destination))) return [];
    return [{ ...destination, includesSubdomainsOnly: false }];
  });
}

/** Opens the sandbox of a call, which reaches the hosts that the user has allowed in the conversation, too. */
export async function openGrantedSandbox(
  use: Omit<SandboxUse, "granted">,
  readEntries: () => Promise<readonly Pick<Entry, "message">[]>,
  { sandboxes }: Pick<Dependencies, "sandboxes">,
): Promise<OpenSandbox> {
  const { ask = [] } = use.settings.network;
  const granted = ask.length === 0 ? [] : listGrantedHosts(use.settings, await readEntries());
  return await sandboxes.open({ ...use, granted });
}

/** The sandbox of an agent's tools: its own settings, or else the worker's. */
export function getToolSandbox(
  definition: Pick<AgentDefinition, "sandbox">,
  { sandboxes }: Pick<Dependencies, "sandboxes">,
): SandboxSettings {
  return sandboxes.getSettings(definition.sandbox);
}
