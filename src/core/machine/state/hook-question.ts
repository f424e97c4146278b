import type { Usage } from "../../../schema/message.ts";
import type { CallingTools } from "./call-status.ts";
import type { CompactionCounts, CompactionReason } from "./compaction.ts";
import type { AfterTurn, TurnEnding, TurnSource } from "./turn-ending.ts";

/** What hooks are asked about, with what is needed to continue after their answer. */
export type HookQuestion =
  | { readonly point: "before-turn"; readonly source: TurnSource }
  | { readonly point: "before-compaction"; readonly reason: CompactionReason }
  | { readonly point: "after-compaction"; readonly counts: CompactionCounts; readonly isOverflow: boolean }
  | {
      readonly point: "before-tool" | "after-tool";
      readonly phase: CallingTools;
      /** Indices, in call order. */
      readonly calls: readonly number[];
    }
  | { readonly point: "on-error"; readonly ending: TurnEnding }
  | {
      readonly point: "after-turn";
      readonly turn: number;
      readonly usage: Usage;
      readonly after: AfterTurn;
    }
  | { readonly point: "on-text"; readonly position: number }
  | { readonly point: "after-task" };
