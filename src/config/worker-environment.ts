/** Which version of a deployment a worker is (Temporal's worker deployments). */
export type Versioning = {
  /** Names this build among those of the deployment; anything that is new with each release. */
  readonly buildId: string;
  /** `holdfast` unless said. */
  readonly deployment?: string;
  /**
   * `auto-upgrade`, unless said: a run goes on with whichever version is current. `pinned`: it stays with the version
   * that it was started on, and moves when it continues as new.
   */
  readonly behavior?: "pinned" | "auto-upgrade";
};

const BEHAVIORS = ["pinned", "auto-upgrade"] as const;

/** `HOLDFAST_DRAIN_SECONDS`. */
export function readDrainMs(env: NodeJS.ProcessEnv): number | undefined {
  const text = env["HOLDFAST_DRAIN_SECONDS"];
  return text === undefined || text === "" ? undefined : parseSeconds("HOLDFAST_DRAIN_SECONDS", text);
}

/** @returns Milliseconds. */
export function parseSeconds(name: string, text: string): number {
  const seconds = Number(text);
  if (text.trim() !== "" && Number.isFinite(seconds) && seconds >= 0) return Math.round(seconds * 1000);
  throw new TypeError(`${name} is "${text}"; it must be a number of seconds, 0 or more`);
}

/** `HOLDFAST_BUILD_ID`, with `HOLDFAST_DEPLOYMENT` and `HOLDFAST_VERSIONING`. Nothing without a build id. */
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

/** @param names - Of what was typed where, for an error. */
export function createVersioning(
  { buildId, deployment, behavior }: VersioningSettings,
  names: { readonly buildId: string; readonly behavior: string },
): Versioning | undefined {
  if (buildId === undefined) {
    if (deployment === undefined && behavior === undefined) return undefined;
    throw new TypeError(`A deployment was named, and no build of it: set ${names.buildId}`);
  }
  const known = BEHAVIORS.find((one) => one === behavior);
  if (behavior !== undefined && known === undefined) {
    throw new TypeError(`${names.behavior} is "${behavior}"; it must be ${BEHAVIORS.join(" or ")}`);
  }
  return {
    buildId,
    ...(deployment === undefined ? {} : { deployment }),
    ...(known === undefined ? {} : { behavior: known }),
  };
}
