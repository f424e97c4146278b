/** Runs an operation, and retries it if that is useful. */
export type Retry = <Result>(attempt: () => Promise<Result>) => Promise<Result>;

/**
 * Wraps a transcript, its archive or its suites, so that `retry` runs every operation. Each operation can be repeated even if it has
 * already succeeded (decision 0021).
 */
export function wrapWithRetry<Target extends object>(target: Target, retry: Retry): Target {
  return new Proxy(target, {
    get(_, name) {
      const value = Reflect.get(target, name, target) as unknown;
      if (name === "archive" || name === "suites") return wrapWithRetry(value as object, retry);
      if (typeof value !== "function") return value;
      if (name === "close") return value.bind(target) as unknown;
      return (...values: unknown[]) => {
        const call = () => value.apply(target, values) as unknown;
        const first = call();
        // A generator of pages cannot be retried as a whole.
        if (!(first instanceof Promise)) return first;
        let answer: Promise<unknown> | undefined = first;
        return retry(() => {
          const attempt = answer ?? (call() as Promise<unknown>);
          answer = undefined;
          return attempt;
        });
      };
    },
  });
}
