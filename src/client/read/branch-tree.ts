import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { ContinuationKind, LoopStatus, SessionOrigin } from "../../schema/record.ts";
import type { BranchPosition } from "../../store/transcript/fork.ts";
import { createUnknownSessionError, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";

/**
 * Why a branch exists: it is the first one; a user forked or rewound there; a loop began before another one's end; a model
 * reverted; or a run was reset after the earlier run had already written there.
 */
export type BranchOrigin = "first" | "requested" | "rewind" | "loop" | "revert" | "reset";

/** One branch of a session, with the loops on it. */
export type BranchInTree = {
  /** The branch's id, unique within its session. */
  readonly id: string;
  /** Why the branch exists. */
  readonly origin: BranchOrigin;
  /** Where the branch begins; in another session if `session` is present. */
  readonly from?: BranchPosition & { readonly session?: string };
  /** The number of messages on the branch, those before its beginning included. */
  readonly length: number;
  /** Whether the next run of the session continues this branch. */
  readonly isHead: boolean;
  /** When the branch was requested; absent for branches that a run has made. */
  readonly requestedAt?: Date;
  /** The loops that ended on the branch or run there, in order of start. */
  readonly loops: readonly {
    readonly loopId: string;
    /** How the loop began. */
    readonly kind: ContinuationKind["type"];
    /** The position of the loop's first entry. */
    readonly from: number;
    /** How the loop ended, or that it runs. */
    readonly status: LoopStatus;
    /** The id of the loop's model. */
    readonly model: string;
  }[];
};

/** The branches of a session. */
export type BranchTree = {
  readonly session: string;
  readonly agentId?: string;
  /** What the session began as. */
  readonly origin: SessionOrigin;
  /** Where the next run begins. */
  readonly head: BranchPosition;
  /** The branches in the order in which they began. */
  readonly branches: readonly BranchInTree[];
};

/** Reads the branches of a session with the loops on them. */
export async function readBranchTree(link: ClientLink, session: string): Promise<BranchTree> {
  try {
    const transcript = await link.storage.openExistingTranscript();
    const record = await transcript?.readSession(session);
    if (transcript === undefined || record === undefined) throw createUnknownSessionError(link, session);
    const [records, loops] = await Promise.all([
      transcript.readBranches(session),
      transcript.readLoops(session),
    ]);
    const branches = await Promise.all(
      records.map(async ({ id, parent, from, requestedAtMs }): Promise<BranchInTree> => {
        const start = parent ?? from;
        return {
          id,
          origin: start === undefined ? "first" : getBranchOrigin(id),
          ...omitUndefined({ from: start }),
          length: await transcript.countEntries(session, id),
          isHead: id === record.headBranch,
          ...(requestedAtMs === undefined ? {} : { requestedAt: new Date(requestedAtMs) }),
          loops: loops
            .filter(({ branch }) => branch === id)
            .map((loop) => ({
              loopId: loop.loopId,
              kind: loop.kind.type,
              from: loop.from,
              status: loop.status,
              model: loop.model,
            })),
        };
      }),
    );
    const length = branches.find(({ isHead }) => isHead)?.length ?? 0;
    return {
      session,
      ...omitUndefined({ agentId: record.agentId }),
      origin: record.origin,
      head: { branch: record.headBranch, position: length },
      branches,
    };
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

const ORIGIN_OF_PREFIX = { fork: "reset", loop: "loop", revert: "revert", back: "rewind" } as const;

function getBranchOrigin(id: string): BranchOrigin {
  const prefix = /^(fork|loop|revert|back)-/.exec(id)?.[1] as keyof typeof ORIGIN_OF_PREFIX | undefined;
  return prefix === undefined ? "requested" : ORIGIN_OF_PREFIX[prefix];
}
