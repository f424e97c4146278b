import { resolve } from "node:path";
import {
  type ProcessEnding,
  type ProcessStarter,
  startWithoutSandbox,
} from "../../platform/process/process-starter.ts";
import type { SandboxPrograms } from "../../platform/sandbox/find-sandbox-programs.ts";
import { type HostProbe, probeHost } from "../../platform/sandbox/probe-host.ts";
import { createSandboxStarter, type SandboxProfile } from "../../platform/sandbox/sandbox-starter.ts";
import { type NetworkRule, parseNetworkRule } from "../../platform/text/network-rule.ts";
import type { SandboxMode, SandboxReport, SandboxSettings } from "../../schema/sandbox.ts";
import { SandboxLog } from "./sandbox-log.ts";

/** A worker cannot run processes in the sandbox that a definition asks for. The message says what to do about it. */
export class SandboxUnavailableError extends Error {
  override readonly name = "SandboxUnavailableError";
}

/** For whom processes run. */
export type SandboxUse = {
  readonly settings: SandboxSettings;
  /** The folder that they may write. Absolute. */
  readonly workspace: string;
  /** Whether they may only read it. */
  readonly isReadOnly?: boolean;
  /** Destinations that the user has allowed besides. */
  readonly granted?: readonly NetworkRule[];
};

/** Starts processes for one piece of work, and knows what happened in their sandbox. */
export type OpenSandbox = {
  readonly start: ProcessStarter;
  readonly recorder: Pick<SandboxLog, "getReport">;
};

export type SandboxesOptions = {
  /** What applies to definitions without settings of their own. */
  readonly fallback: SandboxSettings;
  /** The folder of the worker's own data. */
  readonly holdfastHome: string;
  /** The worker's environment, from which `env` of the settings takes variables. */
  readonly environment: NodeJS.ProcessEnv;
  readonly probe?: () => Promise<HostProbe>;
};

/** The sandboxes of a worker. Probes its host once, when a sandbox is needed for the first time. */
export class Sandboxes {
  readonly #options: SandboxesOptions;
  #probe: Promise<HostProbe> | undefined;

  constructor(options: SandboxesOptions) {
    this.#options = options;
  }

  /** Returns the settings that apply: a definition's own, or else the worker's. */
  getSettings(own: SandboxSettings | undefined): SandboxSettings {
    return own ?? this.#options.fallback;
  }

  /** Throws a `SandboxUnavailableError` where this host cannot make the sandbox. */
  async check({ mode }: SandboxSettings): Promise<void> {
    if (mode !== "off") await this.#findPrograms(mode);
  }

  /** Prepares a sandbox, or none if the settings say `off`. Rejects with a `SandboxUnavailableError`. */
  async open(use: SandboxUse): Promise<OpenSandbox> {
    const { mode, env } = use.settings;
    const recorder = new SandboxLog({ mode, isReadOnly: mode !== "off" && use.isReadOnly === true });
    if (mode === "off") return { start: this.#addVariables(startWithoutSandbox, env), recorder };
    const programs = await this.#findPrograms(mode);
    const start = createSandboxStarter(this.#buildProfile(use, mode), programs, {
      onConnection: (report) => recorder.addConnection(report),
      onDenied: (moved) => recorder.addMoved(moved),
    });
    return { start: this.#addVariables(start, env), recorder };
  }

  /** Returns what starts each process in a sandbox that is prepared for it. Reports what happened there when it has ended. */
  createStarter(use: SandboxUse, onReport: (report: SandboxReport) => void = () => {}): ProcessStarter {
    return async (command) => {
      const { start, recorder } = await this.open(use);
      const started = await start(command);
      const report = (ending: ProcessEnding) => {
        onReport(recorder.getReport());
        return ending;
      };
      return { ...started, ended: started.ended.then(report) };
    };
  }

  async #findPrograms(mode: SandboxMode): Promise<SandboxPrograms> {
    this.#probe ??= (this.#options.probe ?? probeHost)();
    const probe = await this.#probe;
    if (probe.able) return probe.programs;
    // The host may be mended while the worker runs.
    this.#probe = undefined;
    const tried = `The sandbox "${mode}" cannot be used on this worker's host: ${probe.attempt}, and got: ${probe.answer}.`;
    throw new SandboxUnavailableError(`${tried} ${probe.remedy}`);
  }

  #buildProfile(
    { settings, workspace, isReadOnly = false, granted = [] }: SandboxUse,
    mode: SandboxProfile["mode"],
  ) {
    const { network, readable, writable } = settings;
    const allowed = [...network.allow.flatMap((text) => parseNetworkRule(text) ?? []), ...granted];
    const rules = allowed.length + (network.ask ?? []).length === 0 ? undefined : allowed;
    const { holdfastHome } = this.#options;
    return { mode, workspace: resolve(workspace), isReadOnly, holdfastHome, readable, writable, rules };
  }

  #addVariables(start: ProcessStarter, names: readonly string[]): ProcessStarter {
    if (names.length === 0) return start;
    return (command) => {
      const { environment } = this.#options;
      const added = names.flatMap((name) => {
        const value = environment[name];
        return value === undefined ? [] : [[name, value] as const];
      });
      return start({ ...command, env: { ...Object.fromEntries(added), ...command.env } });
    };
  }
}
