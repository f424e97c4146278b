import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { BranchPosition } from "../../store/transcript/fork.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import {
  createPositionError,
  createPositionReader,
  findPosition,
  type PositionOptions,
} from "../read/branch-position.ts";
import { getSessionRecord } from "../runs/get-session-record.ts";
import { describeRun, isOpen } from "../runs/open-runs.ts";

/** Where a rewind has moved the head. */
export type RewindResult = {
  readonly session: string;
  /** Where the next run begins. */
  readonly head: BranchPosition;
  /** Where it would have begun. That branch stays in the record: rewind to it to go forward again. */
  readonly previousHead: BranchPosition;
  /** The last loop before the head. */
  readonly loopId?: string;
  /** The folder of the session's agent. Its files remain unchanged. */
  readonly workspace?: string;
};

/** Moves a session's head to a position, backward or forward. Deletes nothing from the record. Fails while a run is open. */
export async function rewindSession(
  link: ClientLink,
  session: string,
  to: PositionOptions,
): Promise<RewindResult> {
  if (Object.values(to).every((value) => value === undefined)) {
    throw new HoldfastError(
      "input-invalid",
      "Specify a position: at, beforeTurn, afterTurn, beforeLoop, afterLoop or branch.",
      {
        session,
      },
    );
  }
  try {
    const { transcript, record } = await getSessionRecord(link, session);
    const running = (await transcript.readLoops(session)).filter(({ status }) => status === "running");
    const run = await describeRun(link, session);
    if (run !== undefined && isOpen(run)) throw createRunningError(session);
    const position = await findPosition(createPositionReader(transcript, record), to);
    // No run is open: these loops have ended. A loop that began after this read is not among them.
    const endedLoops = running.map(({ loopId }) => loopId);
    const rewound = await transcript.rewind({
      session,
      atMs: Date.now(),
      to: position,
      endedLoopIds: endedLoops,
    });
    if (rewound.type === "running") throw createRunningError(session);
    if (rewound.type !== "rewound") throw createPositionError(session, rewound);
    const { head, before, loopId } = rewound;
    const { workspace } = (await transcript.readDefinition(record.definitionHash)) ?? {};
    return {
      session,
      head,
      previousHead: before,
      ...omitUndefined({ loopId, workspace }),
    };
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

function createRunningError(session: string): HoldfastError {
  const command = `holdfast stop ${session}`;
  return new HoldfastError(
    "session-busy",
    `Session ${session} was not rewound: it has an open run, which owns the head. Stop the run (\`${command}\`), or ` +
      "fork instead: a new branch can begin at any position while the run works.",
    { session, command },
  );
}
