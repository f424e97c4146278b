import { DEFAULT_TASK_QUEUE } from "./home.ts";

/** Where a Temporal server is when nobody says otherwise. */
export const DEFAULT_ADDRESS = "127.0.0.1:7233";
const DEFAULT_NAMESPACE = "default";

/** Who said where the server is: who asks for help must know what to change. */
type Source = "option" | "profile" | "default";

export type ConnectionTarget = {
  readonly address: string;
  readonly addressFrom: Source;
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
export function connectionTarget(options: TargetOptions, profile: TargetProfile): ConnectionTarget {
  const asked = said(options.address);
  const read = said(profile.address);
  return {
    address: asked ?? read ?? DEFAULT_ADDRESS,
    addressFrom: asked !== undefined ? "option" : read !== undefined ? "profile" : "default",
    namespace: said(options.namespace) ?? said(profile.namespace) ?? DEFAULT_NAMESPACE,
    taskQueue: said(options.taskQueue) ?? DEFAULT_TASK_QUEUE,
  };
}

function said(word: string | undefined): string | undefined {
  return word === undefined || word === "" ? undefined : word;
}
