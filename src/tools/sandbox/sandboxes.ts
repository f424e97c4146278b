import { resolve } from "node:path";
import { buildCleanEnvironment } from "../../platform/process/clean-environment.ts";
import {
  type ProcessEnding,
  type ProcessStarter,
  startWithoutSandbox,
} from "../../platform/process/process-starter.ts";
import type { SandboxPrograms } from "../../platform/sandbox/find-sandbox-programs.ts";
import { type HostProbe, probeHost } from "../../platform/sandbox/probe-host.ts";
import {
  buildProfile,
  createSandboxStarter,
  type SandboxEvents,
  type SandboxRequest,
} from "../../platform/sandbox/sandbox-starter.ts";
import { runSelfTest, type SelfTestResult } from "../../platform/sandbox/self-test.ts";
import { type NetworkRule, parseNetworkRule } from "../../platform/text/network-rule.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { SandboxMode, SandboxReport, SandboxSettings } from "../../schema/sandbox.ts";
import { SandboxLog } from "./sandbox-log.ts";
import { SelfTests } from "./self-tests.ts";

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
  /** Folders that they may read besides those of the settings. */
  readonly readable?: readonly string[];
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
  readonly #selfTests = new SelfTests();
  #probe: Promise<HostProbe> | undefined;

  constructor(options: SandboxesOptions) {
    this.#options = options;
  }

  /** Returns the settings that apply: a definition's own, or else the worker's. */
  getSettings(own: SandboxSettings | undefined): SandboxSettings {
    return own ?? this.#options.fallback;
  }

  /** Throws a `SandboxUnavailableError` where this host cannot make the sandbox. */
  async check({ mode }: Pick<SandboxSettings, "mode">): Promise<void> {
    if (mode !== "off") await this.#findPrograms(mode);
  }

  /** Tries the forbidden acts in the sandbox of a use, whose mode is not `off`. Rejects as `open` does. */
  async test(use: SandboxUse): Promise<SelfTestResult> {
    const { mode } = use.settings;
    if (mode === "off") throw new TypeError("Without a sandbox, nothing is forbidden");
    const programs = await this.#findPrograms(mode);
    const request = this.#buildRequest(use, mode);
    const { profile } = await buildProfile(
      request,
      programs,
      use.workspace,
      buildCleanEnvironment("self-test"),
    );
    return await runSelfTest(profile);
  }

  /**
   * Prepares a sandbox, or none if the settings say `off`. Rejects with a `SandboxUnavailableError`.
   *
   * @param events - Receives what happens in it, besides the recorder.
   */
  async open(use: SandboxUse, events?: SandboxEvents): Promise<OpenSandbox> {
    const { mode, env } = use.settings;
    const recorder = new SandboxLog({ mode, isReadOnly: mode !== "off" && use.isReadOnly === true });
    if (mode === "off") return { start: this.#addVariables(startWithoutSandbox, env), recorder };
    const programs = await this.#findPrograms(mode);
    const start = createSandboxStarter(this.#buildRequest(use, mode), programs, {
      admit: async (profile) => {
        const first = await this.#selfTests.admit(profile);
        if (first !== undefined) recorder.addSelfTest(first);
      },
      onConnection: (report) => {
        recorder.addConnection(report);
        events?.onConnection(report);
      },
      onDenied: (moved) => {
        recorder.addMoved(moved);
        events?.onDenied(moved);
      },
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

  #buildRequest(
    { settings, workspace, isReadOnly = false, readable: others = [], granted = [] }: SandboxUse,
    mode: SandboxRequest["mode"],
  ) {
    const { network, writable } = settings;
    const { temporaryBytes: tmpfsBytes, ...bounds } = settings.bounds ?? {};
    const readable = [...settings.readable, ...others];
    const allowed = [...network.allow.flatMap((text) => parseNetworkRule(text) ?? []), ...granted];
    const rules = allowed.length + (network.ask ?? []).length === 0 ? undefined : allowed;
    const { holdfastHome } = this.#options;
    return {
      mode,
      workspace: resolve(workspace),
      isReadOnly,
      holdfastHome,
      readable,
      writable,
      rules,
      bounds: omitUndefined(bounds),
      tmpfsBytes,
    };
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
