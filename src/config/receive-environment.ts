import { closeSync, readFileSync } from "node:fs";

/** The variable with the descriptor of the pipe that delivers secret variables, which /proc must not expose. */
export const SECRETS_PIPE = "HOLDFAST_SECRETS_PIPE";

/** Reads the variables that the starting process sends. They never enter the memory that /proc exposes. */
export function receiveEnvironment(env: NodeJS.ProcessEnv = process.env): void {
  const descriptor = Number(env[SECRETS_PIPE]);
  if (!Number.isInteger(descriptor) || descriptor < 3) return;
  delete env[SECRETS_PIPE];
  const received = JSON.parse(readFileSync(descriptor, "utf8")) as Record<string, string>;
  closeSync(descriptor);
  for (const [name, value] of Object.entries(received)) env[name] = value;
}
