/** The end of every switch over a closed union: a new variant breaks each place that decides. */
export function assertNever(value: never): never {
  throw new Error(`Unhandled variant: ${JSON.stringify(value)}`);
}
