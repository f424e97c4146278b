import type { Readable, Writable } from "node:stream";
import type { ConnectOptions, SessionEvent } from "../../client/index.ts";
import { CompactEvents } from "../../client/read/compact-events.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { print, printJson } from "./output.ts";
import { createPalette, type Palette } from "./palette.ts";

export type Output = Writable & {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
};
export type Input = Readable & { readonly isTTY?: boolean | undefined };

/** The source of signals: the process, or a test. */
export type SignalSource = {
  on(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
  off(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
};

/** The streams, variables and signals that a command may use. */
export type Streams = {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: NodeJS.ProcessEnv;
  readonly signals: SignalSource;
};

/** Options of every command. */
export type GlobalOptions = {
  readonly address?: string;
  readonly namespace?: string;
  readonly taskQueue?: string;
  readonly home?: string;
  /** The environment's by default; an empty text means none. */
  readonly database?: string;
  readonly profile?: string;
  readonly json?: boolean;
};

/** Runs the work of the command that was given, and keeps its exit code. */
export type RunAction = (work: (context: Context) => Promise<number>) => Promise<void>;

/** The environment of one command. */
export class Context {
  readonly streams: Streams;
  readonly options: GlobalOptions;
  /** Colours of standard output and of standard error. */
  readonly out: Palette;
  readonly err: Palette;
  readonly #compactEvents = new CompactEvents();
  #showReport: ((line: string) => void) | undefined;

  constructor(streams: Streams, options: GlobalOptions) {
    this.streams = streams;
    this.options = options;
    this.out = createPalette(streams.stdout, streams.env);
    this.err = createPalette(streams.stderr, streams.env);
  }

  get json(): boolean {
    return this.options.json === true;
  }

  /** Prints a line of the result on standard output. */
  print(line: string): void {
    print(this.streams.stdout, `${line}\n`);
  }

  /** Prints a line for the user at the terminal on standard error. */
  report(line: string): void {
    if (this.#showReport === undefined) print(this.streams.stderr, `${line}\n`);
    else this.#showReport(line);
  }

  /** Passes the reports to a function while a screen has the terminal; without one, they are printed again. */
  redirectReports(show?: (line: string) => void): void {
    this.#showReport = show;
  }

  printJson(value: unknown): void {
    printJson(this.streams.stdout, value);
  }

  /** Prints a session's event as a line of JSON. */
  printEvent(sessionEvent: SessionEvent): void {
    for (const sent of this.#compactEvents.compact(sessionEvent)) this.printJson(sent);
  }

  connectOptions(): ConnectOptions {
    const { address, namespace, taskQueue, home, database, profile } = this.options;
    return {
      ...omitUndefined({ address, namespace, taskQueue, home, database, profile }),
    };
  }
}
