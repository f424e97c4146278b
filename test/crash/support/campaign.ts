import { afterAll, beforeAll } from "vitest";
// @ts-expect-error: the campaign is plain JavaScript, as its programs are
import { openEnvironment } from "../campaign/environment.mjs";
// @ts-expect-error: as above
import { playWave } from "../campaign/wave.mjs";

export type WorkerSupervisor = {
  readonly pid: number;
  readonly ownEnds: readonly string[];
  signal(signal: NodeJS.Signals): void;
  ready(): Promise<void>;
};
type VendorLogLine = {
  readonly type: "asked" | "closed";
  readonly question?: string;
  readonly outcome?: string;
};
export type CampaignEnvironment = {
  readonly folder: string;
  readonly vendorLog: { of(session: string): readonly VendorLogLine[]; step(session: string): number };
  killServer(awayMs: number): Promise<void>;
  close(): Promise<void>;
};
export type WaveInProgress = {
  readonly keepers: readonly WorkerSupervisor[];
  readonly keep: (
    kills: readonly string[],
    env?: Record<string, string>,
  ) => Promise<{ keeper: WorkerSupervisor; log: string }>;
  readonly runs: readonly { readonly session: string; readonly closedAtMs?: number }[];
  readonly home: string;
  readonly killLog: string;
};
export type Wave = {
  readonly name: string;
  /** The kill points of each worker, one for each of its processes. */
  readonly workers: readonly (readonly string[])[];
  readonly scenarios: readonly string[];
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly patienceMs?: number;
  readonly during?: (wave: WaveInProgress) => Promise<void>;
};
export type WaveResult = {
  readonly kills: readonly { readonly point: string; readonly sessions: readonly string[] }[];
  readonly violations: readonly object[];
  readonly again: readonly Readonly<Record<string, number>>[];
};

/** A Temporal server and a vendor of the file's own, as processes; waves of agents are played and judged on it. */
export function openCampaignEnvironment(): {
  play(wave: Wave): Promise<WaveResult>;
  stage(): CampaignEnvironment;
} {
  let stage: CampaignEnvironment;
  beforeAll(async () => {
    stage = await (openEnvironment as () => Promise<CampaignEnvironment>)();
  });
  afterAll(() => stage.close());
  return {
    stage: () => stage,
    play: (wave) => (playWave as (on: CampaignEnvironment, wave: Wave) => Promise<WaveResult>)(stage, wave),
  };
}

/** One of each kind, except for those that end at once. */
export const VARIED_SCENARIOS = [
  "plain",
  "parallel",
  "batched-with-steering",
  "compaction",
  "overflow",
  "rate-limited",
  "continue-as-new",
  "rerun",
] as const;
