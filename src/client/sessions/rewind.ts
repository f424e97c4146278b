import type { Spot } from "../../store/transcript/fork.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { translated } from "../failures.ts";
import { askedOf, noSpot, type PlaceOptions, spotBehind } from "../read/spot.ts";
import { knownSession } from "../runs/known-session.ts";
import { describeRun, isOpen } from "../runs/tree.ts";

export type Rewinding = {
  readonly session: string;
  /** The next run begins here. */
  readonly head: Spot;
  /** Where it would have begun. It stays in the record: rewind to that branch to go forward again. */
  readonly before: Spot;
  /** The last loop before the head. */
  readonly loopId?: string;
  /** The folder of the session's agent. Its files stay as they are. */
  readonly workspace?: string;
};

/** Moves a session's head to a place, forward again too; the record keeps everything. Refused while a run is open. */
export async function rewindSession(link: Link, session: string, to: PlaceOptions): Promise<Rewinding> {
  if (Object.values(to).every((value) => value === undefined)) {
    throw new HoldfastError("input-invalid", "Say where to go: a position, a turn, a loop or a branch.", {
      session,
    });
  }
  try {
    const { transcript, record } = await knownSession(link, session);
    const running = (await transcript.loops(session)).filter(({ status }) => status === "running");
    const run = await describeRun(link, session);
    if (run !== undefined && isOpen(run)) throw atWork(session);
    const spot = await spotBehind(askedOf(transcript, record), to);
    // No run is open: what was running before this was asked is over, and what has begun since is not among these.
    const over = running.map(({ loopId }) => loopId);
    const rewound = await transcript.rewind({ session, atMs: Date.now(), to: spot, over });
    if (rewound.type === "running") throw atWork(session);
    if (rewound.type !== "rewound") throw noSpot(session, rewound);
    const { head, before, loopId } = rewound;
    const { workspace } = (await transcript.definition(record.definitionHash)) ?? {};
    return {
      session,
      head,
      before,
      ...(loopId === undefined ? {} : { loopId }),
      ...(workspace === undefined ? {} : { workspace }),
    };
  } catch (error) {
    throw translated(error, link, session);
  }
}

function atWork(session: string): HoldfastError {
  const command = `holdfast stop ${session}`;
  return new HoldfastError(
    "session-busy",
    `Session ${session} was not rewound: a run of it is open, and the head is that run's. End it (\`${command}\`), or ` +
      "leave it alone and fork: a branch of your own can begin at any place while it works.",
    { session, command },
  );
}
