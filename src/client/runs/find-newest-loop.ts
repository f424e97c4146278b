import type { LoopRecord } from "../../store/transcript/loop.ts";

/** The loop that a session goes on behind: of an evaluation's the chosen one, whichever began or ended last. */
export function findNewestLoop<Loop extends Pick<LoopRecord, "evaluation" | "parallel">>(
  loops: readonly Loop[],
): Loop | undefined {
  const isContinuable = ({ evaluation, parallel }: Loop) =>
    evaluation === undefined || parallel?.isSelected === true;
  return loops.findLast(isContinuable) ?? loops.at(-1);
}
