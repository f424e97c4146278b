import type { Usage } from "../../../schema/message.ts";
import type { Calling } from "./calling.ts";
import type { CompactionCounts, CompactionReason, TurnSource } from "./state.ts";
import type { BehindTurn, TurnEnding } from "./turn-ending.ts";

/** What hooks are asked about, with what is needed to go on behind their answer. */
export type HookQuestion =
  | { readonly point: "before-turn"; readonly source: TurnSource }
  | { readonly point: "before-compaction"; readonly why: CompactionReason }
  | { readonly point: "after-compaction"; readonly counts: CompactionCounts; readonly overflow: boolean }
  | {
      readonly point: "before-tool" | "after-tool";
      readonly calling: Calling;
      /** Indices, in call order. */
      readonly calls: readonly number[];
    }
  | { readonly point: "on-error"; readonly ending: TurnEnding }
  | {
      readonly point: "after-turn";
      readonly turn: number;
      readonly usage: Usage;
      readonly behind: BehindTurn;
    }
  | { readonly point: "on-text"; readonly position: number }
  | { readonly point: "after-task" };
