import { type ConnectOptions, connect, type Holdfast } from "../../../src/client/index.ts";
import { runHoldfast } from "../../cli/terminal.ts";
import type { TestEnvironment } from "./test-environment.ts";

/** A client of the test environment's server, with its transcript. */
export function connectClient(
  { address, namespace, home, taskQueue }: TestEnvironment,
  settings: ConnectOptions["settings"] = {},
): Promise<Holdfast> {
  return connect({ address, namespace, home, taskQueue, settings });
}

/** The command line options that address the test environment. */
export const formatConnectionOptions = ({
  address,
  namespace,
  home,
  taskQueue,
}: TestEnvironment): readonly string[] => [
  ...["--address", address, "--namespace", namespace],
  ...["--home", home, "--task-queue", taskQueue],
];

/** Runs one command line against the test environment, to its end. */
export const runCommandLine = (stage: TestEnvironment, ...args: readonly string[]) =>
  runHoldfast([...args, ...formatConnectionOptions(stage)]);
