import type { Run } from "./run.ts";

/** What can follow each other: `await run.until("call-tools").steer("x").settle()`. */
const LINKS = [
  "tell",
  "steer",
  "followUp",
  "prompt",
  "stop",
  "setMode",
  "clear",
  "answer",
  "compact",
  "update",
  "rotationDue",
  "pass",
  "timePassed",
  "step",
  "tool",
  "asks",
  "beginChild",
  "child",
  "childGone",
  "setBack",
  "lose",
  "fail",
  "continueAsNew",
  "until",
  "settle",
] as const;

type Link = (typeof LINKS)[number];

/** What a run does one after the other; to be awaited, which gives the run. */
export interface Chain extends PromiseLike<Run>, Links {}
type Links = { readonly [Name in Link]: (...all: Parameters<Run[Name]>) => Chain };

class LinkedSteps {
  readonly run: Run;
  readonly done: Promise<void>;

  constructor(run: Run, done: Promise<void>) {
    this.run = run;
    this.done = done;
  }

  // biome-ignore lint/suspicious/noThenProperty: a chain is awaited.
  then<Found, Lost>(
    found?: ((run: Run) => Found | PromiseLike<Found>) | null,
    lost?: ((reason: unknown) => Lost | PromiseLike<Lost>) | null,
  ): Promise<Found | Lost | Run> {
    return this.done.then(() => this.run).then(found ?? undefined, lost ?? undefined) as never;
  }
}

for (const name of LINKS) {
  Object.defineProperty(LinkedSteps.prototype, name, {
    value(this: LinkedSteps, ...all: readonly unknown[]) {
      const run = this.run as unknown as Record<string, (...given: readonly unknown[]) => unknown>;
      const act = async () => {
        await run[name]?.(...all);
      };
      return new LinkedSteps(this.run, this.run.following(this.done, act));
    },
  });
}

export function chained(run: Run, done: Promise<void>): Chain {
  return new LinkedSteps(run, done) as unknown as Chain;
}
