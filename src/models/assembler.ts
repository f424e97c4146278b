import type { AssistantMessage } from "../schema/message.ts";
import type { ModelDelta } from "./provider.ts";
import type { Vendor } from "./provider-error-from-response.ts";
import type { ServerEvent } from "./stream-format.ts";

/** One answer, put together from its events. Pure: no clock, no network. */
export interface Assembler {
  /** Takes one event and says what it added. Throws a `ProviderError` when the event is an error. */
  push(event: ServerEvent): readonly ModelDelta[];
  /** `complete`: nothing is missing, though something may follow. `ended`: nothing follows. */
  readonly state: "open" | "complete" | "ended";
  /** The whole answer. Throws a `ProviderError` while it is open. */
  finish(): AssistantMessage;
}

/** What an answer is stamped with, and how its errors are read. */
export type AnswerContext = {
  readonly model: string;
  readonly provider: string;
  readonly timestamp: number;
  readonly vendor: Vendor;
  readonly requestId?: string | undefined;
};
