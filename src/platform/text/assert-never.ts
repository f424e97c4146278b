/** Ends every switch over a closed union, so that a new variant is a type error in each switch that misses it. */
export function assertNever(value: never): never {
  throw new Error(`Unhandled variant: ${JSON.stringify(value)}`);
}
