import type { NativeConnectionOptions, WorkerOptions } from "@temporalio/worker";
import type { Versioning } from "../config/worker-environment.ts";
import type { CompactionStrategy } from "../hooks/compaction-strategy.ts";
import type { ContextConverter, ContextTransform } from "../hooks/context-functions.ts";
import type { EvaluationStrategyFunction } from "../hooks/evaluation-strategy.ts";
import type { InputFilter } from "../hooks/filters.ts";
import type { HookFunctions, HookPolicy } from "../hooks/hook-registry.ts";
import type { Reducer } from "../hooks/reducer.ts";
import type { Provider } from "../models/provider.ts";
import type { SecretSource } from "../models/secrets.ts";
import type { EncryptionOptions } from "../platform/encryption/resolve-encryption.ts";
import type { Logger } from "../platform/log.ts";
import type { CredentialsInput } from "../schema/credentials.ts";
import type { WorkerLimits } from "../schema/vendor-limits.ts";
import type { StreamHub } from "../store/stream/stream-hub.ts";
import type { Transcript } from "../store/transcript/transcript.ts";
import type { DefaultToolOptions } from "../tools/builtin/default-tools.ts";
import type { ToolSource } from "../tools/sources/tool-source.ts";
import type { Tool } from "../tools/tool.ts";

// What an application tells a worker, and what it gets of one.

export type HoldfastWorkerOptions = {
  /** `host:port`; else what Temporal's own configuration says (profiles, `TEMPORAL_*`). */
  readonly address?: string;
  readonly namespace?: string;
  readonly connection?: NativeConnectionOptions;
  readonly taskQueue?: string;
  /** Where transcript and live output lie; else `HOLDFAST_HOME`, else `~/.holdfast`. */
  readonly home?: string;
  /**
   * The PostgreSQL database that holds both instead, which workers of several hosts may share:
   * `postgresql://user:password@host:5432/database`. Else `HOLDFAST_DATABASE_URL`; an empty word means none.
   */
  readonly database?: string;
  /** Your own tools. One that has the name of a built-in tool replaces it, with a warning in the log. */
  readonly tools?: readonly Tool[];
  /**
   * Off leaves out bash, read_file, write_file, edit_file, list_files and search, prun and revert_to_state; an object
   * changes time limits, bounds and restrictions of the first six.
   */
  readonly builtInTools?: boolean | DefaultToolOptions;
  /**
   * Input filters, by the names that definitions use in `inputFilters`. One that throws, or that gives no answer
   * within 10 seconds, rejects.
   */
  readonly filters?: Readonly<Record<string, InputFilter>>;
  /**
   * Hooks, by the names that definitions use in `hooks`: functions by point, and what a failure means. One that throws,
   * or that gives no answer within 10 seconds, is a "no" before something happens and changes nothing behind it.
   */
  readonly hooks?: Readonly<Record<string, HookFunctions & { readonly policy?: HookPolicy }>>;
  /**
   * Context transforms, by the names that definitions use in `transformContext`. One that throws, or that gives no answer
   * within 10 seconds, fails the turn.
   */
  readonly transforms?: Readonly<Record<string, ContextTransform>>;
  /** Context converters, by the names that definitions use in `convertToLlm`. They fail as transforms do. */
  readonly converters?: Readonly<Record<string, ContextConverter>>;
  /** Compaction strategies, by the names that definitions use in `context.compaction.strategy`. */
  readonly compactions?: Readonly<Record<string, CompactionStrategy>>;
  /** Reducers, by the names that fan-outs use in `reducer`; one that has a built-in name replaces it. One that throws, or takes 5 minutes, fails the job. */
  readonly reducers?: Readonly<Record<string, Reducer>>;
  /** Strategies that choose a branch of an evaluation, by the names under which evaluations ask for them. */
  readonly evaluationStrategies?: Readonly<Record<string, EvaluationStrategyFunction>>;
  /** Other sources of tools than those that are built in (docs/tools.md); one replaces the built-in one of its kind. */
  readonly sources?: readonly ToolSource[];
  /** Your own vendors; one replaces the built-in adapter of its protocol. */
  readonly providers?: readonly Provider[];
  /**
   * What this worker asks of each vendor at most, with one key: questions at once, requests and tokens a minute; by the
   * vendor's name, `default` for all others. Else the file that `HOLDFAST_LIMITS` names; without it what vendors say.
   */
  readonly limits?: WorkerLimits;
  readonly transcript?: Transcript;
  readonly hub?: StreamHub;
  /** Where keys come from, instead of `credentials` and the environment. */
  readonly secrets?: SecretSource;
  /**
   * Where the value of each `${NAME}` comes from: a command, a file, another variable, or the value itself. Else the
   * file that `HOLDFAST_CREDENTIALS` names; names that are not there come from the environment.
   */
  readonly credentials?: CredentialsInput;
  /**
   * Hides the values of variables that hold secrets from `/proc/PID/environ`, where commands of the same user would read
   * them (Linux); `process.env` keeps them. On in `holdfast worker` and `holdfast dev`; off unless set here, because it
   * writes over memory of your process that a native library may have kept a pointer to.
   */
  readonly hideEnvironment?: boolean;
  /** Where runs work whose definition names no folder; the current one unless said. */
  readonly defaultWorkspace?: string;
  readonly log?: Logger;
  /** What is sealed, and with which keys. Else `HOLDFAST_ENCRYPTION_KEYS`; without keys nothing is. */
  readonly encryption?: EncryptionOptions;
  /** Looks for dead workers of this host and takes over from them at once; on unless said. */
  readonly recognition?: boolean;
  /**
   * How long model streams and tools may still take when the worker is asked to end, before they are handed back; else
   * `HOLDFAST_DRAIN_SECONDS`, else 10 seconds.
   */
  readonly drainMs?: number;
  /** Temporal's worker versioning; else `HOLDFAST_BUILD_ID` and its like; without it any worker takes any run. */
  readonly versioning?: Versioning;
  /** What Temporal's own worker is to do differently. */
  readonly temporal?: Partial<WorkerOptions>;
};

export type HoldfastWorker = {
  readonly id: string;
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Resolves when the worker has ended, after `shutdown` or a signal. */
  run(): Promise<void>;
  /** No new work; what runs is given a little time, then handed back. Asked again: it is handed back at once. */
  shutdown(): void;
};
