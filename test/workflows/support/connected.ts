import { type ConnectOptions, connect, type Holdfast } from "../../../src/client/index.ts";
import { holdfast } from "../../cli/terminal.ts";
import type { Stage } from "./temporal.ts";

/** A client of the stage's server, with its transcript. */
export function connectTo(
  { address, namespace, home, taskQueue }: Stage,
  settings: ConnectOptions["settings"] = {},
): Promise<Holdfast> {
  return connect({ address, namespace, home, taskQueue, settings });
}

/** The options of a command line that say where the stage is. */
export const placeOf = ({ address, namespace, home, taskQueue }: Stage): readonly string[] => [
  ...["--address", address, "--namespace", namespace],
  ...["--home", home, "--task-queue", taskQueue],
];

/** Runs one command line against the stage, to its end. */
export const commandLine = (stage: Stage, ...args: readonly string[]) =>
  holdfast([...args, ...placeOf(stage)]);
