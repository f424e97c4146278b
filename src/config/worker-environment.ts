import { omitUndefined } from "../platform/text/omit-undefined.ts";

/** The deployment version of a worker (Temporal's worker deployments). */
export type Versioning = {
  /** Identifies this build of the deployment; any text that changes with each release. */
  readonly buildId: string;
  /** `holdfast` by default. */
  readonly deployment?: string;
  /**
   * `auto-upgrade` (the default): a run continues on the current version. `pinned`: a run stays on the version that
   * started it, and moves when it continues as new.
   */
  readonly behavior?: "pinned" | "auto-upgrade";
};

const BEHAVIORS = ["pinned", "auto-upgrade"] as const;

/** Reads `HOLDFAST_DRAIN_SECONDS` in milliseconds. */
export function readDrainMs(env: NodeJS.ProcessEnv): number | undefined {
  const text = env["HOLDFAST_DRAIN_SECONDS"];
  return text === undefined || text === "" ? undefined : parseSeconds("HOLDFAST_DRAIN_SECONDS", text);
}

/** @returns Milliseconds. */
export function parseSeconds(name: string, text: string): number {
  const seconds = Number(text);
  if (text.trim() !== "" && Number.isFinite(seconds) && seconds >= 0) return Math.round(seconds * 1000);
  throw new TypeError(`${name} is "${text}", but must be a number of seconds, 0 or more`);
}

/** Reads `HOLDFAST_BUILD_ID`, `HOLDFAST_DEPLOYMENT` and `HOLDFAST_VERSIONING`. Returns undefined if none is set. */
export function readVersioning(env: NodeJS.ProcessEnv): Versioning | undefined {
  const readSetting = (name: string) => (env[name] === "" ? undefined : env[name]);
  const [buildId, deployment, behavior] = [
    readSetting("HOLDFAST_BUILD_ID"),
    readSetting("HOLDFAST_DEPLOYMENT"),
    readSetting("HOLDFAST_VERSIONING"),
  ];
  return createVersioning(
    { buildId, deployment, behavior },
    { buildId: "HOLDFAST_BUILD_ID", behavior: "HOLDFAST_VERSIONING" },
  );
}

type VersioningSettings = { readonly [Field in keyof Versioning]?: string | undefined };

/** @param names - The names of the settings, for errors. */
export function createVersioning(
  { buildId, deployment, behavior }: VersioningSettings,
  names: { readonly buildId: string; readonly behavior: string },
): Versioning | undefined {
  if (buildId === undefined) {
    if (deployment === undefined && behavior === undefined) return undefined;
    throw new TypeError(
      `A deployment or a versioning behavior is set, but no build id: set ${names.buildId}`,
    );
  }
  const known = BEHAVIORS.find((one) => one === behavior);
  if (behavior !== undefined && known === undefined) {
    throw new TypeError(`${names.behavior} is "${behavior}", but must be ${BEHAVIORS.join(" or ")}`);
  }
  return {
    buildId,
    ...omitUndefined({ deployment, behavior: known }),
  };
}
