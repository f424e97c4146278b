import { StartError } from "../../platform/process/start-group.ts";
import {
  computeProfileKey,
  runSelfTest,
  type SandboxProfile,
  type SelfTestResult,
} from "../../platform/sandbox/self-test.ts";

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
    const test = known ?? this.#run(profile);
    if (known === undefined) this.#passed.set(key, test);
    const result = await test;
    if (result.ok) return known === undefined ? result : undefined;
    if (this.#passed.get(key) === test) this.#passed.delete(key);
    throw new StartError(`Nothing runs in this sandbox: its self-test failed. ${describeFailures(result)}`);
  }
}

function describeFailures({ acts }: SelfTestResult): string {
  return acts
    .filter(({ outcome }) => outcome !== "prevented")
    .map(({ forbidden, outcome, detail }) => `${forbidden}: ${outcome}${detail === "" ? "" : ` (${detail})`}`)
    .join("; ");
}
