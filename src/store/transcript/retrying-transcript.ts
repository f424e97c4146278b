/** Carries out an operation, and again where that makes sense. */
export type Retry = <Result>(attempt: () => Promise<Result>) => Promise<Result>;

/**
 * A transcript, or its archive, whose every operation goes through `patience`. Each of them may be asked again although
 * it was carried out (decision 0021).
 */
export function wrapWithRetry<Target extends object>(target: Target, retry: Retry): Target {
  return new Proxy(target, {
    get(_, name) {
      const value = Reflect.get(target, name, target) as unknown;
      if (name === "archive") return wrapWithRetry(value as object, retry);
      if (typeof value !== "function") return value;
      if (name === "close") return value.bind(target) as unknown;
      return (...values: unknown[]) => {
        const call = () => value.apply(target, values) as unknown;
        const first = call();
        // Pages that are given one by one are nothing that could be asked again as a whole.
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
