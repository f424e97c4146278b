import type { Limits } from "../schema/definition.ts";
import type { RunSettings } from "./input.ts";
import type { Words } from "./messages.ts";

/** What a supervisor is started with: names and hashes. Definitions lie in the transcript, and so do long words. */
export type SupervisorRequest = {
  readonly task: Words;
  /** The hash of the lead's definition, which names the tools of a lead. */
  readonly lead: string;
  readonly agents: readonly {
    readonly name: string;
    readonly description: string;
    readonly definitionHash: string;
  }[];
  /** For all together; none unless said. Each agent has those of its own definition besides. */
  readonly limits?: Partial<Limits>;
  /** Tasks that may be handed out; 100 unless said, at most 1,000. */
  readonly maxAgents?: number;
  readonly settings?: Partial<RunSettings>;
};
