import type { OfferChange } from "../../core/machine/offers.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { OutsideKind, PinnedOutside, PinnedTool } from "../../schema/outside.ts";
import type { ExecutableTool } from "../tool.ts";

/** What a source works with when a loop opens. */
export type PinContext = {
  /** The value of a name, as in `${NAME}`. */
  readonly secrets: (name: string) => string | undefined;
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

export type PinnedPart = Partial<PinnedOutside> & {
  /** What was left out or looks wrong, a sentence each. */
  readonly warnings?: readonly string[];
};

/** What a definition asks of a source cannot be had. The message says what was tried, on what, and what came back. */
export class OutsideError extends Error {
  override readonly name = "OutsideError";
}

/** A loop that works with tools of a source. */
export type LoopAtWork = {
  readonly workflow: string;
  readonly loopId: string;
  /** What it is pinned to. */
  readonly definitionHash: string;
  /** Its run does not know of it yet. */
  readonly isOpening?: true;
  /** Has its model told, with its next question. Resolves soon, and never rejects. */
  readonly tell: (change: OfferChange) => Promise<"told" | "over" | "failed">;
};

/**
 * Where tools come from that a worker does not have itself. One object serves all runs of a worker.
 */
export interface ToolSource {
  readonly kind: OutsideKind;
  /** Whether the definition asks anything of this source. */
  isAsked(definition: AgentDefinition): boolean;
  /**
   * What the definition has of this source now. Names of tools are proposals: they are made to fit afterwards.
   * Rejects with an `OutsideError` when the loop cannot be opened without what is missing.
   */
  pin(definition: AgentDefinition, context: PinContext): Promise<PinnedPart>;
  /**
   * The tool that carries calls out, as it was pinned: `data` of the pinned tool says all that it takes, references to
   * secrets instead of secrets. Connects to nothing before it is called.
   */
  tool(pinned: PinnedTool): ExecutableTool;
  /** From now on the loop is told when its source offers something else than what it is pinned to. */
  watch?(definition: AgentDefinition, loop: LoopAtWork): void;
  unwatch?(loopId: string): void;
  /** Ends what the source holds open; called when the worker ends. */
  close?(): Promise<void>;
}
