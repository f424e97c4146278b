import type { SpawnedGroup } from "../platform/process/process-group.ts";
import type { Content, FileContent, ImageContent, TextContent } from "../schema/message.ts";
import type { SandboxReport } from "../schema/sandbox.ts";
import type { AskUser } from "../schema/user-question.ts";

// What the execution of a call receives, returns and throws.

/** What a call returns. */
export type ToolOutput = {
  /** The output that the model sees. */
  readonly content: readonly (TextContent | ImageContent | FileContent)[];
  /** Data for users and programs. Never sent to a model. */
  readonly details?: unknown;
  /** For a tool that runs another agent: the loop in which that agent ran. At most 512 bytes. */
  readonly childLoopId?: string;
  /** Ends the loop when the results of the answer's calls are in the conversation (HITL-05, IRON-08). */
  readonly endsLoop?: LoopEnding;
};

/** `paused`: the work waits for something outside. `handoff`: a person takes the task over. Holdfast cuts the reason. */
export type LoopEnding = {
  readonly type: "paused" | "handoff";
  /** Why, for the user; Holdfast cuts a long one. */
  readonly reason: string;
};

/** What a tool knows about the call that it executes. */
export type ToolContext = {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The folder in which file and shell tools work. Absolute. */
  readonly workspace: string;
  /** The same for every execution of this call. Pass it to external services if the tool is `idempotent`. */
  readonly idempotencyKey: string;
  /** The loop that the call belongs to. */
  readonly loopId?: string | undefined;
  /** Aborts when the call is cancelled or its time is over. */
  readonly signal: AbortSignal;
  /** Streams partial output to observers: text that is appended to the earlier text. The model never sees it. */
  readonly onUpdate: (text: string) => void;
  /** Sends one line of progress to observers. */
  readonly onProgress: (text: string) => void;
  /** Records a spawned process. Await it before you rely on the process: a later worker must be able to kill it. */
  readonly onSpawned: (group: SpawnedGroup) => Promise<void>;
  /**
   * Runs a command in the sandbox of the session, under a supervisor: no process of it outlives the call, the worker's death
   * included. Rejects with a `ToolError` if the command cannot be started.
   */
  readonly runCommand: RunCommand;
  /**
   * For tools that Holdfast brings.
   *
   * @internal
   */
  readonly sandbox?: ToolSandbox | undefined;
  /**
   * A short note that outlives the worker and is passed to the next execution of the same call. For tools that are
   * idempotent because of their own observations. Absent where nothing can store it.
   */
  readonly memo?: CallMemo | undefined;
  /**
   * Reads what the earlier calls of this tool have returned in the conversation, the oldest first: not those that failed, and
   * not those of the same answer. A tool can keep its state in its `details` this way: it survives a crash, and a fork has
   * the state of its branch. Absent where the call is not recorded.
   */
  readonly earlierResults?: (() => Promise<readonly EarlierResult[]>) | undefined;
  /**
   * Asks the user. If the user has not answered yet, it rejects, `signal` aborts, and the call is retried with the answer
   * under another `idempotencyKey`. Absent where no user can be asked.
   */
  readonly askUser?: AskUser | undefined;
};

/** A command that a tool runs. */
export type CommandSpec = {
  /** The program, found as a shell would find it. */
  readonly command: string;
  /** The arguments; none by default. No shell interprets them. */
  readonly args?: readonly string[];
  /** The working directory, within the workspace. Absolute; the workspace itself by default. */
  readonly cwd?: string;
  /** Variables besides PATH, HOME and the like. */
  readonly env?: Readonly<Record<string, string>>;
  /** Names of the worker's variables that the command receives besides. */
  readonly allowEnvironment?: readonly string[];
  /** The time limit in milliseconds, counted from the start; 120,000 by default. */
  readonly timeoutMs?: number;
  /** The time between SIGTERM and SIGKILL when the call is cancelled or the time is over, in milliseconds; 2,000 by default. */
  readonly graceMs?: number;
  /** The limit for each of stdout and stderr, in bytes; 262,144 by default. The rest is dropped. */
  readonly maxOutputBytes?: number;
  /** Receives text as it arrives, up to the limit. */
  readonly onOutput?: (stream: "stdout" | "stderr", text: string) => void;
};

/** How a command has ended, and what it printed. */
export type CommandResult = {
  /** `cancelled`: the call was cancelled. */
  readonly ending: "exited" | "timed-out" | "cancelled";
  /** `null` if a signal ended the command. In a sandbox, 128 and the number of the signal instead. */
  readonly exitCode: number | null;
  /** The signal that ended the command; `null` in a sandbox. */
  readonly signal: string | null;
  /** What the command wrote to its standard output, up to the limit. */
  readonly stdout: string;
  /** What the command wrote to its standard error, up to the limit. */
  readonly stderr: string;
  /** Whether the rest of the standard output was dropped. */
  readonly stdoutTruncated: boolean;
  /** Whether the rest of the standard error was dropped. */
  readonly stderrTruncated: boolean;
};

/** What tools of Holdfast know of the sandbox, and report of it. */
type ToolSandbox = {
  /** The destinations that the user may allow. */
  readonly ask: readonly string[];
  /** Reports the sandbox of a process that lives longer than the call. */
  readonly note: (report: SandboxReport) => void;
};

/** Runs a command for a tool. */
export type RunCommand = (command: CommandSpec) => Promise<CommandResult>;

/** What an earlier call of the same tool has returned. */
export type EarlierResult = {
  readonly toolCallId: string;
  /** What the model has read. */
  readonly content: readonly Content[];
  /** The data for users and programs. */
  readonly details?: unknown;
};

/** A note about one call that survives the worker. */
export type CallMemo = {
  /** Reads the note of an earlier execution of the call; `undefined` if there is none. */
  readonly get: () => Promise<string | undefined>;
  /** Stores the note durably before it resolves. */
  readonly set: (text: string) => Promise<void>;
};

/** What went wrong with a call. */
export type ToolFault = "failed" | "not-found" | "invalid-arguments" | "cancelled";

/** A failure of a tool that the model receives as an error result. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  /** What went wrong, for code. */
  readonly fault: ToolFault;

  /** Creates a failure. @param message - What the model reads. */
  constructor(
    fault: ToolFault,
    message: string,
    options?: {
      /** What has caused it, for logs. */
      cause?: unknown;
    },
  ) {
    super(message, options);
    this.fault = fault;
  }
}
