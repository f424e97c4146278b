import type { RecordCommand } from "../../../core/machine/state/command.ts";
import type { Made } from "./results.ts";
import type { Stage } from "./stage.ts";

export function record({ transcript }: Stage, command: RecordCommand, branch: string): Made {
  transcript.putInbox(command.inbox);
  return { happening: { type: "recorded", digest: { branch } } };
}
