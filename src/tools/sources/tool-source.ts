import type { ToolListChange } from "../../core/machine/state/run-event.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { PinnedSources, PinnedTool, ToolSourceKind } from "../../schema/tool-source.ts";
import type { ExecutableTool } from "../tool.ts";

/** The context of a source when a loop opens. */
export type PinContext = {
  /** Returns the value of a name, as in `${NAME}`. */
  readonly getSecret: (name: string) => string | undefined;
  /** The agent's folder. Absolute. */
  readonly workspace: string;
  /** Aborts when nothing waits for the tools any more. */
  readonly signal: AbortSignal;
  /** The log of the worker. */
  readonly log: SourceLog;
};

/** A log for the operator. No secrets, no large texts. */
export type SourceLog = {
  /** Writes a line for those who look closer. */
  info(facts: object, message: string): void;
  /** Writes a line about something that an operator should know. */
  warn(facts: object, message: string): void;
};

/** What a source offers to a loop: tools, texts for the prompt, and rules. */
export type SourcePin = Partial<PinnedSources> & {
  /** What was skipped or looks wrong, one sentence each. */
  readonly warnings?: readonly string[];
};

/** A source cannot provide what a definition requires. The message names the attempt, its target and the result. */
export class ToolSourceError extends Error {
  override readonly name = "OutsideError";
}

/** A loop that works with tools of a source. */
export type ActiveLoop = {
  /** The id of the workflow that runs the loop. */
  readonly workflow: string;
  readonly loopId: string;
  /** The agent's folder. Absolute. */
  readonly workspace: string;
  /** The definition that the loop is pinned to. */
  readonly definitionHash: string;
  /** The loop is opening: its run does not know it yet. */
  readonly isOpening?: true;
  /** Notifies the model with its next request. Resolves soon, and never rejects. */
  readonly notify: (change: ToolListChange) => Promise<"notified" | "ended" | "failed">;
};

/**
 * A source of tools that a worker does not have itself. One object serves all runs of a worker.
 */
export interface ToolSource {
  /** The kind of the source. */
  readonly kind: ToolSourceKind;
  /** Whether the definition uses this source. */
  isUsedBy(definition: AgentDefinition): boolean;
  /**
   * Returns what the source offers to the definition at this moment. Tool names are proposals and are adjusted later.
   * Rejects with a `ToolSourceError` when the loop cannot be opened without the missing part.
   */
  pin(definition: AgentDefinition, context: PinContext): Promise<SourcePin>;
  /**
   * Creates the tool that executes calls, as it was pinned: `data` of the pinned tool holds everything that it needs, with
   * references to secrets instead of secrets. Connects to nothing before the first call.
   */
  createTool(pinned: PinnedTool): ExecutableTool;
  /** Notifies the loop, from this moment, when its source offers something that differs from what is pinned. */
  watch?(definition: AgentDefinition, loop: ActiveLoop): void;
  /** Ends what `watch` began for the loop. */
  unwatch?(loopId: string): void;
  /** Closes what the source holds open. Called when the worker shuts down. */
  close?(): Promise<void>;
}
