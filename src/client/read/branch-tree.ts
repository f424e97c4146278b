import type { ContinuationKind, LoopStatus, SessionOrigin } from "../../schema/record.ts";
import type { BranchPosition } from "../../store/transcript/fork.ts";
import { createUnknownSessionError, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";

/**
 * How a branch came to be: it was there from the beginning; somebody asked for it, or rewound to its place; a loop began
 * before another's end; a model went back; a run was reset, and what the one before had done was there already.
 */
export type BranchOrigin = "first" | "asked" | "rewind" | "loop" | "revert" | "reset";

export type BranchInTree = {
  readonly id: string;
  readonly origin: BranchOrigin;
  /** Where it begins; in another session when that is named. */
  readonly from?: BranchPosition & { readonly session?: string };
  /** Messages that it shows, what stands before its beginning included. */
  readonly length: number;
  readonly isHead: boolean;
  readonly askedAt?: Date;
  /** Those that have ended on it, or are at work there, in order of start. */
  readonly loops: readonly {
    readonly loopId: string;
    readonly kind: ContinuationKind["type"];
    readonly from: number;
    readonly status: LoopStatus;
    readonly model: string;
  }[];
};

export type BranchTree = {
  readonly session: string;
  readonly agentId?: string;
  readonly formation: SessionOrigin;
  readonly head: BranchPosition;
  /** In the order in which they began. */
  readonly branches: readonly BranchInTree[];
};

/** The branches of a session, with what is on them. */
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
      records.map(async ({ id, parent, from, askedAtMs }): Promise<BranchInTree> => {
        const getStart = parent ?? from;
        return {
          id,
          origin: getStart === undefined ? "first" : getBranchOrigin(id),
          ...(getStart === undefined ? {} : { from: getStart }),
          length: await transcript.countEntries(session, id),
          isHead: id === record.headBranch,
          ...(askedAtMs === undefined ? {} : { askedAt: new Date(askedAtMs) }),
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
      ...(record.agentId === undefined ? {} : { agentId: record.agentId }),
      formation: record.formation,
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
  return prefix === undefined ? "asked" : ORIGIN_OF_PREFIX[prefix];
}
