import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { raceTimeout } from "../../../../platform/async/race.ts";
import { buildCleanEnvironment } from "../../../../platform/process/clean-environment.ts";
import {
  CALL_VARIABLE,
  killGroup,
  readStartTime,
  signalGroup,
  waitUntilGone,
} from "../../../../platform/process/process-group.ts";
import type {
  ProcessEnding,
  ProcessStarter,
  StartedProcess,
} from "../../../../platform/process/process-starter.ts";
import { StartError } from "../../../../platform/process/start-group.ts";
import type { SpawnedGroup } from "../../../tool.ts";
import { findErrorReason, McpError } from "../mcp-error.ts";
import { MAX_MESSAGES_PER_SECOND, MessageRateLimit } from "../message-rate-limit.ts";
import { BoundedLineReader } from "./bounded-line-reader.ts";

// Invariants
//   S1. The death of this process, at any moment, ends the server's process group.
//   S2. When `stop` resolves, no member of the group is running, nor any process that left it and carries its marker.

/** The limit for one message. Images and files are base64 within it. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** The most unread messages: such a server requests answers that it does not read. */
const MAX_UNREAD_MESSAGES = 1_000;

/** The time from closing its input to SIGTERM, and from there to SIGKILL (MCP-09). */
const GRACE_MS = 2_000;

/** The time to read the rest of the output of a server that has exited. */
const DRAIN_MS = 200;

/** A pipe usually breaks because the server exits. The exit status explains more, so it is awaited. */
const EXIT_WAIT_MS = 1_000;

/** The limit for one line of standard error, and for the part that is stored to explain an exit. */
const MAX_STDERR_BYTES = 2 * 1024;

export type ServerCommand = {
  /** Decides whether the server runs in a sandbox. */
  readonly start: ProcessStarter;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
};

export type ProcessEvents = {
  /** Receives a line of standard output. */
  readonly onLine: (line: string) => void;
  /** Receives a line of standard error. */
  readonly onStderrLine: (line: string) => void;
  /** Called when the server has exited, by itself or by `stop`; `how` completes a sentence. */
  readonly onExit: (how: string) => void;
  /** Awaited before the server starts. */
  readonly onSpawned?: ((group: SpawnedGroup) => Promise<void>) | undefined;
};

export class ServerProcess {
  readonly #started: StartedProcess;
  readonly #marker: string;
  readonly #exited: Promise<string>;
  #lastStderr = "";
  #fault: string | undefined;
  #unread = 0;
  #hasBegun = false;
  #stopPromise: Promise<void> | undefined;

  private constructor(started: StartedProcess, marker: string, events: ProcessEvents) {
    this.#started = started;
    this.#marker = marker;
    const { child, ended } = started;
    const rate = new MessageRateLimit();
    const line = (text: string) => {
      if (this.#fault !== undefined) return;
      if (!rate.take(1)) return this.#kill(`sent more than ${MAX_MESSAGES_PER_SECOND} messages in a second`);
      events.onLine(text);
    };
    const answers = new BoundedLineReader(MAX_MESSAGE_BYTES, line, () =>
      this.#kill(`sent a message of more than ${MAX_MESSAGE_BYTES} bytes`),
    );
    const stderrLines = new BoundedLineReader(
      MAX_MESSAGE_BYTES,
      (line) => this.#readStderrLine(line, events),
      () => {},
    );
    child.stdout?.on("data", (chunk: Buffer) => answers.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => stderrLines.push(chunk));
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => {});
    this.#exited = new Promise((resolve) => {
      child.once(
        "exit",
        (code, signal) =>
          void this.#cleanUp()
            .then(() => ended)
            .then((ending) => resolve(this.#formatExit(code, signal, ending))),
      );
    });
    void this.#exited.then(events.onExit);
  }

  /** Rejects with an `McpError` if the system cannot start the server. */
  static async start(command: ServerCommand, events: ProcessEvents): Promise<ServerProcess> {
    const folder = await stat(command.cwd).catch(() => undefined);
    if (folder?.isDirectory() !== true) {
      throw new McpError("io", `cannot be started in ${command.cwd}: the folder does not exist`);
    }
    const marker = `mcp:${randomUUID()}`;
    const env = { ...buildCleanEnvironment(marker), ...command.env, [CALL_VARIABLE]: marker };
    const started = await command.start({ ...command, env, stdin: "pipe" }).catch((error: unknown) => {
      if (!(error instanceof StartError)) throw error;
      throw new McpError("io", `cannot be started: ${error.message}`, { cause: error });
    });
    const server = new ServerProcess(started, marker, events);
    const { pgid } = started;
    try {
      await events.onSpawned?.({ pgid, startTime: readStartTime(pgid) });
    } catch (error) {
      await server.stop();
      throw error;
    }
    server.#begin();
    return server;
  }

  get pid(): number {
    return this.#started.pgid;
  }

  /** Resolves when the system has accepted the text. */
  async write(text: string): Promise<void> {
    const { stdin } = this.#started.child;
    await new Promise<void>((resolve, reject) => {
      if (stdin === null || stdin.destroyed || stdin.writableEnded) {
        reject(new McpError("closed", "has closed its input"));
        return;
      }
      this.#unread += 1;
      if (this.#unread > MAX_UNREAD_MESSAGES) this.#kill(`did not read ${MAX_UNREAD_MESSAGES} messages`);
      stdin.write(text, (error) => {
        this.#unread -= 1;
        if (error === null || error === undefined) resolve();
        else void this.#toPipeError(error).then(reject);
      });
    });
  }

  async #toPipeError(cause: Error): Promise<McpError> {
    const exit = await raceTimeout(this.#exited, EXIT_WAIT_MS);
    return exit === undefined
      ? new McpError("io", `cannot be written to: ${findErrorReason(cause)}`, { cause })
      : new McpError("closed", exit, { cause });
  }

  /** Closes the input, then sends SIGTERM, then SIGKILL. */
  stop(): Promise<void> {
    this.#stopPromise ??= this.#stop();
    return this.#stopPromise;
  }

  #kill(fault: string): void {
    this.#fault ??= fault;
    signalGroup(this.#started.pgid, "SIGKILL");
  }

  #begin(): void {
    this.#hasBegun = true;
    this.#started.parentPipe.write("go\n");
  }

  async #stop(): Promise<void> {
    const { child, pgid, parentPipe, terminate } = this.#started;
    child.stdin?.end();
    // A process that has not started yet waits for its line: closing the parent pipe ends it.
    if (!this.#hasBegun) parentPipe.end();
    if ((await raceTimeout(this.#exited, GRACE_MS)) === undefined) terminate();
    if ((await raceTimeout(this.#exited, GRACE_MS)) === undefined) signalGroup(pgid, "SIGKILL");
    await this.#exited;
  }

  /** Kills the processes that the server left. The watcher is in the group, so the group's number cannot be reused. */
  async #cleanUp(): Promise<void> {
    const { child, pgid, parentPipe } = this.#started;
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    await raceTimeout(Promise.all(streams.map(waitForEnd)), DRAIN_MS);
    signalGroup(pgid, "SIGKILL");
    for (const stream of [...streams, child.stdin]) stream?.destroy();
    await waitUntilGone(pgid).catch(() => {});
    await killGroup({ pgid, startTime: "" }, this.#marker).catch(() => {});
    parentPipe.destroy();
  }

  #readStderrLine(line: string, events: ProcessEvents): void {
    const text = line.length > MAX_STDERR_BYTES ? `${line.slice(0, MAX_STDERR_BYTES)}...` : line;
    if (text.trim() === "") return;
    this.#lastStderr = `${this.#lastStderr}\n${text}`.slice(-MAX_STDERR_BYTES);
    events.onStderrLine(text);
  }

  #formatExit(code: number | null, signal: NodeJS.Signals | null, ending: ProcessEnding): string {
    if (this.#fault !== undefined) return `was terminated because it ${this.#fault}`;
    if (ending.type === "failed") return `was terminated: ${ending.problem}`;
    if (ending.type === "not-started" && ending.problem !== undefined)
      return `was not started, because its sandbox could not be made: ${ending.problem}`;
    const exit =
      ending.type === "not-started"
        ? "was not started, because its sandbox could not be made"
        : code === null
          ? `was terminated by ${signal ?? "a signal"}`
          : `ended with exit code ${code}`;
    const stderr = this.#lastStderr.trim();
    return stderr === ""
      ? exit
      : `${exit}; its last output: ${selectErrorLines(stderr.split("\n")).join(" / ")}`;
  }
}

/** Selects the last lines, and the error line that a long stack trace would push out. */
function selectErrorLines(lines: readonly string[]): readonly string[] {
  const last = lines.slice(-4);
  const error = lines.slice(0, -4).findLast((line) => /^\s*(?:[A-Z]\w*)?error\b/i.test(line));
  return error === undefined ? last : [error, ...last];
}

function waitForEnd(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.readableEnded) resolve();
    else stream.once("close", () => resolve()).once("end", () => resolve());
  });
}
