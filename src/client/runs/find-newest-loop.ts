import type { LoopRecord } from "../../store/transcript/loop.ts";

/** Finds the loop before the session's head: the chosen loop of an evaluation, whichever began or ended last. */
export function findNewestLoop<Loop extends Pick<LoopRecord, "evaluation" | "parallel">>(
  loops: readonly Loop[],
): Loop | undefined {
  const isContinuable = ({ evaluation, parallel }: Loop) =>
    evaluation === undefined || parallel?.isSelected === true;
  return loops.findLast(isContinuable) ?? loops.at(-1);
}
