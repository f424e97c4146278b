import { AsyncLocalStorage } from "node:async_hooks";
import type { Logger } from "../observability/log.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { patiently } from "./patience.ts";
import { currentContext } from "./store-waits.ts";

/** Without an activity there is nothing that could be cancelled. */
const NEVER = new AbortController().signal;

const patienceOf = new AsyncLocalStorage<AbortSignal>();

/** Has the transcript asked until this signal, whatever becomes of the activity that asks. */
export function until<Result>(signal: AbortSignal, ask: () => Promise<Result>): Promise<Result> {
  return patienceOf.run(signal, ask);
}

function signalNow(): AbortSignal {
  return patienceOf.getStore() ?? currentContext()?.cancellationSignal ?? NEVER;
}

/**
 * The transcript as activities use it: every operation waits for a store that is away, until the activity that asks is
 * cancelled. Each of them may be asked again although it was carried out (decision 0021).
 */
export function patientTranscript(transcript: Transcript, log: Logger): Transcript {
  return patient(transcript, log);
}

function patient<Target extends object>(target: Target, log: Logger): Target {
  return new Proxy(target, {
    get(_, name) {
      const value = Reflect.get(target, name, target) as unknown;
      if (name === "archive") return patient(value as object, log);
      if (typeof value !== "function" || name === "close") return bound(value, target);
      return (...values: unknown[]) => {
        const call = () => value.apply(target, values) as unknown;
        const first = call();
        // Pages of an export are given one by one, and are nothing that could be asked again as a whole.
        if (!(first instanceof Promise)) return first;
        let answer: Promise<unknown> | undefined = first;
        const attempt = () => {
          const asked = answer ?? (call() as Promise<unknown>);
          answer = undefined;
          return asked;
        };
        return patiently(attempt, signalNow(), log);
      };
    },
  });
}

function bound(value: unknown, target: object): unknown {
  return typeof value === "function" ? (value.bind(target) as unknown) : value;
}
