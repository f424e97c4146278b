import { closeSync, readFileSync } from "node:fs";

/** Names the descriptor of a pipe that the rest of a process's environment comes through: what /proc must not show. */
export const SECRETS_PIPE = "HOLDFAST_SECRETS_PIPE";

/** Takes the variables that the starting process has sent. They never stand in the memory that /proc shows. */
export function receiveEnvironment(env: NodeJS.ProcessEnv = process.env): void {
  const descriptor = Number(env[SECRETS_PIPE]);
  if (!Number.isInteger(descriptor) || descriptor < 3) return;
  delete env[SECRETS_PIPE];
  const received = JSON.parse(readFileSync(descriptor, "utf8")) as Record<string, string>;
  closeSync(descriptor);
  for (const [name, value] of Object.entries(received)) env[name] = value;
}
