import type { ToolListChange } from "../../core/machine/tool-list-change.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { PinnedSources, PinnedTool, ToolSourceKind } from "../../schema/tool-source.ts";
import type { ExecutableTool } from "../tool.ts";

/** What a source works with when a loop opens. */
export type PinContext = {
  /** The value of a name, as in `${NAME}`. */
  readonly getSecret: (name: string) => string | undefined;
  /** The folder of the agent. Absolute. */
  readonly workspace: string;
  readonly signal: AbortSignal;
  readonly log: SourceLog;
};

/** For whoever runs the worker. No secrets, no large texts. */
type SourceLog = {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
};

export type SourcePin = Partial<PinnedSources> & {
  /** What was left out or looks wrong, a sentence each. */
  readonly warnings?: readonly string[];
};

/** What a definition asks of a source cannot be had. The message says what was tried, on what, and what came back. */
export class ToolSourceError extends Error {
  override readonly name = "OutsideError";
}

/** A loop that works with tools of a source. */
export type ActiveLoop = {
  readonly workflow: string;
  readonly loopId: string;
  /** What it is pinned to. */
  readonly definitionHash: string;
  /** Its run does not know of it yet. */
  readonly isOpening?: true;
  /** Has its model told, with its next question. Resolves soon, and never rejects. */
  readonly notify: (change: ToolListChange) => Promise<"told" | "over" | "failed">;
};

/**
 * Where tools come from that a worker does not have itself. One object serves all runs of a worker.
 */
export interface ToolSource {
  readonly kind: ToolSourceKind;
  /** Whether the definition asks anything of this source. */
  isUsedBy(definition: AgentDefinition): boolean;
  /**
   * What the definition has of this source now. Names of tools are proposals: they are made to fit afterwards.
   * Rejects with an `ToolSourceError` when the loop cannot be opened without what is missing.
   */
  pin(definition: AgentDefinition, context: PinContext): Promise<SourcePin>;
  /**
   * The tool that carries calls out, as it was pinned: `data` of the pinned tool says all that it takes, references to
   * secrets instead of secrets. Connects to nothing before it is called.
   */
  createTool(pinned: PinnedTool): ExecutableTool;
  /** From now on the loop is told when its source offers something else than what it is pinned to. */
  watch?(definition: AgentDefinition, loop: ActiveLoop): void;
  unwatch?(loopId: string): void;
  /** Ends what the source holds open; called when the worker ends. */
  close?(): Promise<void>;
}
