import { DEFAULT_TASK_QUEUE } from "./home.ts";

/** The default address of the Temporal server. */
export const DEFAULT_ADDRESS = "127.0.0.1:7233";
const DEFAULT_NAMESPACE = "default";

/** The source of the address. Error messages use it to name the setting to change. */
type AddressSource = "option" | "profile" | "default";

export type ConnectionTarget = {
  readonly address: string;
  readonly addressFrom: AddressSource;
  readonly namespace: string;
  readonly taskQueue: string;
};

export type TargetOptions = {
  readonly address?: string | undefined;
  readonly namespace?: string | undefined;
  readonly taskQueue?: string | undefined;
};

/** The values of a Temporal profile and of `TEMPORAL_*`, as the SDK reads them. */
export type TargetProfile = {
  readonly address?: string | undefined;
  readonly namespace?: string | undefined;
};

/** Resolves the target: options first, then `TEMPORAL_*`, the profile, and the defaults. Empty values are ignored. */
export function resolveConnectionTarget(options: TargetOptions, profile: TargetProfile): ConnectionTarget {
  const requested = getNonEmpty(options.address);
  const read = getNonEmpty(profile.address);
  return {
    address: requested ?? read ?? DEFAULT_ADDRESS,
    addressFrom: requested !== undefined ? "option" : read !== undefined ? "profile" : "default",
    namespace: getNonEmpty(options.namespace) ?? getNonEmpty(profile.namespace) ?? DEFAULT_NAMESPACE,
    taskQueue: getNonEmpty(options.taskQueue) ?? DEFAULT_TASK_QUEUE,
  };
}

function getNonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : text;
}
