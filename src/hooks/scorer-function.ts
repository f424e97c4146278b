import type { AgentMessage } from "../schema/message.ts";
import type { ScoreSubject } from "../schema/score-subject.ts";

/** What a scorer of the application gets. Copies. */
export type ScorerRequest = ScoreSubject & {
  /** The settings that the suite states for the scorer. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** All messages of the cell. */
  readonly messages: readonly AgentMessage[];
  /** Aborts when nothing waits for the score any more. */
  readonly signal: AbortSignal;
};

/**
 * A score: a number, most often from 0 to 1; `true` (1) or `false` (0); or a number with more. `null` as the value means that
 * the cell cannot be scored, for instance because an expected value is missing.
 */
export type ScorerAnswer =
  | number
  | boolean
  | {
      /** The score. */
      readonly value: number | null;
      /** Whether the cell succeeded, for a scorer that tells success from failure. */
      readonly passed?: boolean;
      /** Why; Holdfast cuts it after 500 characters. */
      readonly explanation?: string;
      /** The parts of the score, by name. */
      readonly points?: Readonly<Record<string, number>>;
      /** What the scorer's own model calls have cost; `null` if a price is unknown. */
      readonly costUsd?: number | null;
    };

/** Scores a cell. A scorer that throws gives a failed score. */
export type ScorerFunction = (request: ScorerRequest) => ScorerAnswer | Promise<ScorerAnswer>;
