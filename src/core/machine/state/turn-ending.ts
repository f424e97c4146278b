import type { Usage } from "../../../schema/message.ts";
import type { Outcome } from "../../../schema/record.ts";
import type { RevertRequest } from "../../view/view-request.ts";

/** How a turn ends. */
export type TurnEnding = {
  /** The position of the answer, or of the message that stands for one. */
  readonly position: number;
  readonly results: number;
  readonly usage: Usage;
  readonly after: AfterTurn;
  /** The model's requests to go back. */
  readonly reverts?: readonly RevertRequest[];
};

/** What follows a turn: possibly another turn, or the end of the loop. */
export type AfterTurn =
  | { readonly type: "continue"; readonly source?: TurnSource }
  | { readonly type: "close"; readonly outcome: Outcome };

/** What a turn begins with. */
export type TurnSource = "opening" | "calls" | "steering" | "follow-up" | "nudge" | "repair" | "on-text";
