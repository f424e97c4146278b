import { StartError } from "../../platform/process/start-group.ts";
import {
  computeProfileKey,
  runSelfTest,
  type SandboxProfile,
  type SelfTestResult,
} from "../../platform/sandbox/self-test.ts";
import { FORBIDDEN_ACTS } from "../../platform/sandbox/self-test-acts.ts";

/** The self-tests of a worker: one for each profile, before the first process in it. */
export class SelfTests {
  readonly #run: (profile: SandboxProfile) => Promise<SelfTestResult>;
  readonly #passed = new Map<string, Promise<SelfTestResult>>();

  constructor(run: (profile: SandboxProfile) => Promise<SelfTestResult> = runSelfTest) {
    this.#run = run;
  }

  /**
   * Returns the result of the test if this call has made it. Rejects with a `StartError` if a forbidden act has succeeded or
   * could not be tried; the next call tries again.
   */
  async admit(profile: SandboxProfile): Promise<SelfTestResult | undefined> {
    const key = computeProfileKey(profile);
    const known = this.#passed.get(key);
    const test = known ?? this.#runUntilCertain(profile);
    if (known === undefined) this.#passed.set(key, test);
    const result = await test;
    if (result.ok) return known === undefined ? result : undefined;
    if (this.#passed.get(key) === test) this.#passed.delete(key);
    throw new StartError(`Nothing runs in this sandbox: its self-test failed. ${describeFailures(result)}`);
  }

  /** Some acts are judged by time as well, and a busy host can be too slow for reasons of its own. */
  async #runUntilCertain(profile: SandboxProfile): Promise<SelfTestResult> {
    for (let attempt = 1; ; attempt += 1) {
      const result = await this.#run(profile);
      if (result.ok || attempt === MAX_ATTEMPTS || !isUncertain(result)) return result;
    }
  }
}

const MAX_ATTEMPTS = 3;

function isUncertain({ acts }: SelfTestResult): boolean {
  return acts.every(
    ({ name, outcome }) => outcome !== "succeeded" || FORBIDDEN_ACTS[name].end !== "by-itself",
  );
}

/** Names each act that succeeded; acts that could not be tried usually have one reason. */
function describeFailures({ acts }: SelfTestResult): string {
  const succeeded = acts.filter(({ outcome }) => outcome === "succeeded");
  const reasons = new Map<string, string[]>();
  for (const { name, outcome, detail } of acts) {
    if (outcome === "not-tried") reasons.set(detail, [...(reasons.get(detail) ?? []), name]);
  }
  return [
    ...succeeded.map(
      ({ forbidden, detail }) => `Succeeded: ${forbidden}${detail === "" ? "" : ` (${detail})`}.`,
    ),
    ...[...reasons].map(([reason, names]) => `Could not be tried: ${names.join(", ")}: ${reason}`),
  ].join(" ");
}
