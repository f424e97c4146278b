import type { NativeConnectionOptions, WorkerOptions } from "@temporalio/worker";
import type { Versioning } from "../config/worker-environment.ts";
import type { CompactionStrategy } from "../hooks/compaction-strategy.ts";
import type { ContextConverter, ContextTransform, ContextTranslation } from "../hooks/context-functions.ts";
import type { EvaluationStrategyFunction } from "../hooks/evaluation-strategy.ts";
import type { InputFilter } from "../hooks/filters.ts";
import type { HookFunctions, HookPolicy } from "../hooks/hook-registry.ts";
import type { Reducer } from "../hooks/reducer.ts";
import type { ScorerFunction } from "../hooks/scorer-function.ts";
import type { Provider } from "../models/provider.ts";
import type { SecretSource } from "../models/secrets.ts";
import type { EncryptionOptions } from "../platform/encryption/resolve-encryption.ts";
import type { Logger } from "../platform/log.ts";
import type { CredentialsInput } from "../schema/credentials.ts";
import type { SandboxMode, SandboxSettingsInput } from "../schema/sandbox.ts";
import type { WorkerLimits } from "../schema/vendor-limits.ts";
import type { StreamHub } from "../store/stream/stream-hub.ts";
import type { Transcript } from "../store/transcript/transcript.ts";
import type { DefaultToolOptions } from "../tools/builtin/default-tools.ts";
import type { ToolSource } from "../tools/sources/tool-source.ts";
import type { Tool } from "../tools/tool.ts";

// The options of a worker, and the worker that an application gets.

/** Where a worker works, and what it runs agents with. */
export type HoldfastWorkerOptions = {
  /** `host:port`; by default from Temporal's own configuration (profiles, `TEMPORAL_*`). */
  readonly address?: string;
  readonly namespace?: string;
  /** Options for the connection to Temporal, such as TLS. */
  readonly connection?: NativeConnectionOptions;
  readonly taskQueue?: string;
  /** The folder of the transcript and of live output; by default `HOLDFAST_HOME`, or else `~/.holdfast`. */
  readonly home?: string;
  /**
   * A PostgreSQL database that stores both instead, which workers of several hosts may share:
   * `postgresql://user:password@host:5432/database`. By default `HOLDFAST_DATABASE_URL`; an empty string means no
   * database.
   */
  readonly database?: string;
  /** Your own tools. A tool with the name of a built-in tool replaces it, with a warning in the log. */
  readonly tools?: readonly Tool[];
  /**
   * `false` leaves out bash, read_file, write_file, edit_file, list_files and search, prun and revert_to_state; an
   * object changes time limits, bounds and restrictions of the first six.
   */
  readonly builtInTools?: boolean | DefaultToolOptions;
  /**
   * Input filters, by the names that definitions use in `inputFilters`. A filter that throws, or does not answer
   * within 10 seconds, rejects the text.
   */
  readonly filters?: Readonly<Record<string, InputFilter>>;
  /**
   * Hooks, by the names that definitions use in `hooks`: functions by point, and what a failure means. A hook that
   * throws, or does not answer within 10 seconds, is a "no" before something happens and is ignored after it.
   */
  readonly hooks?: Readonly<
    Record<
      string,
      HookFunctions & {
        /** The limits of the hook, for all its points. */
        readonly policy?: HookPolicy;
      }
    >
  >;
  /**
   * Context transforms, by the names that definitions use in `transformContext`. A transform that throws, or does not
   * answer within 10 seconds, fails the turn.
   */
  readonly transforms?: Readonly<Record<string, ContextTransform>>;
  /** Context converters, by the names that definitions use in `convertToLlm`. They fail as transforms do. */
  readonly converters?: Readonly<Record<string, ContextConverter>>;
  /** Context translations, by the names that definitions use in `contextTranslation`. They fail as transforms do. */
  readonly translations?: Readonly<Record<string, ContextTranslation>>;
  /** Compaction strategies, by the names that definitions use in `context.compaction.strategy`. */
  readonly compactions?: Readonly<Record<string, CompactionStrategy>>;
  /**
   * Reducers, by the names that fan-outs use in `reducer`; a reducer with a built-in name replaces the built-in one. A
   * reducer that throws, or takes 5 minutes, fails the job.
   */
  readonly reducers?: Readonly<Record<string, Reducer>>;
  /** Strategies that choose a branch of an evaluation, by the names that evaluations use. */
  readonly evaluationStrategies?: Readonly<Record<string, EvaluationStrategyFunction>>;
  /**
   * Scorers of cells, by the names that suites use in `type: custom`. A scorer that throws, or takes 4 minutes, gives the cell a
   * failed score and nothing else.
   */
  readonly scorers?: Readonly<Record<string, ScorerFunction>>;
  /** Tool sources besides the built-in ones (docs/tools.md); a source replaces the built-in source of its kind. */
  readonly sources?: readonly ToolSource[];
  /** Your own vendors; a provider replaces the built-in adapter of its protocol. */
  readonly providers?: readonly Provider[];
  /**
   * The limits of this worker for each vendor, with one key: concurrent requests, requests and tokens per minute; by
   * the vendor's name, `default` for all others. By default the file that `HOLDFAST_LIMITS` names; without it the
   * vendors' own limits apply.
   */
  readonly limits?: WorkerLimits;
  /**
   * A transcript that the application has opened itself, instead of the one in `home`.
   *
   * @internal
   */
  readonly transcript?: Transcript;
  /**
   * The hub of live output that belongs to such a transcript.
   *
   * @internal
   */
  readonly hub?: StreamHub;
  /** The source of keys, in place of `credentials` and the environment. */
  readonly secrets?: SecretSource;
  /**
   * The source of each `${NAME}`: a command, a file, another variable, or the value itself. By default the file that
   * `HOLDFAST_CREDENTIALS` names; other names come from the environment.
   */
  readonly credentials?: CredentialsInput;
  /**
   * Hides the values of variables that hold secrets from `/proc/PID/environ`, where commands of the same user could
   * read them (Linux); `process.env` keeps them. On in `holdfast worker` and `holdfast dev`; off by default here,
   * because it overwrites memory of your process to which a native library may hold a pointer.
   */
  readonly hideEnvironment?: boolean;
  /** The workspace of runs whose definition names no folder; by default the current folder. */
  readonly defaultWorkspace?: string;
  /**
   * The folder in which the workspaces of a suite's cells are made, each with the files of its case; by default
   * `holdfast-cells` in the folder for temporary files. Workers on several hosts need one that they share only where cells
   * of a lost host are to be scored on another.
   */
  readonly cellWorkspaces?: string;
  /**
   * The sandbox in which processes of tools, hooks and MCP servers run, where a definition states no other: `workspace`, the
   * default, `strict`, `off`, or an object with more (docs/sandbox.md). By default `HOLDFAST_SANDBOX`.
   */
  readonly sandbox?: SandboxMode | SandboxSettingsInput;
  /** The log of the worker; by default one with the level in `HOLDFAST_LOG`, or else `warn`. */
  readonly log?: Logger;
  /**
   * What is encrypted, and with which keys. By default `HOLDFAST_ENCRYPTION_KEYS`; without keys nothing is encrypted.
   */
  readonly encryption?: EncryptionOptions;
  /** Detects dead workers of this host and takes over from them at once; on by default. */
  readonly deadWorkerDetection?: boolean;
  /**
   * How long model streams and tools may still take after the worker is asked to end, before they are released; by
   * default `HOLDFAST_DRAIN_SECONDS`, or else 10 seconds.
   */
  readonly drainMs?: number;
  /**
   * Temporal's worker versioning; by default `HOLDFAST_BUILD_ID` and related variables. Without a version any worker
   * takes any run.
   */
  readonly versioning?: Versioning;
  /** Options that override those of Temporal's own worker. */
  readonly temporal?: Partial<WorkerOptions>;
};

/** The options of what runs agents, whichever worker it runs in. */
export type AgentHostOptions = Omit<
  HoldfastWorkerOptions,
  "address" | "namespace" | "connection" | "taskQueue" | "versioning" | "temporal"
>;

/** A worker that runs agents. */
export type HoldfastWorker = {
  /** The id of the worker process, which claims and logs contain. */
  readonly id: string;
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Resolves when the worker has ended, after `shutdown` or a signal. */
  run(): Promise<void>;
  /**
   * Stops taking new work. Running steps get a little time and are then released. A second call releases them at once.
   */
  shutdown(): void;
};
