import type { RecordCommand } from "../../../core/machine/state/command.ts";
import type { Stage } from "./stage.ts";

export function record({ transcript, machine }: Stage, command: RecordCommand): void {
  const branch = transcript.write(command);
  transcript.putInbox(command.inbox);
  machine.tell({ type: "recorded", digest: { branch } });
}
