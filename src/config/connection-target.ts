import { DEFAULT_TASK_QUEUE } from "./home.ts";

/** Where a Temporal server is when nobody says otherwise. */
export const DEFAULT_ADDRESS = "127.0.0.1:7233";
const DEFAULT_NAMESPACE = "default";

/** Who said where the server is: who asks for help must know what to change. */
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

/** What a Temporal profile and `TEMPORAL_*` say, as the SDK has read them. */
export type TargetProfile = {
  readonly address?: string | undefined;
  readonly namespace?: string | undefined;
};

/** Options come first, then the profile with `TEMPORAL_*` over it, then the defaults. An empty word is no word. */
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
