import type { LoopRecord } from "../../store/transcript/loop.ts";

/** The loop that a session goes on behind: of an evaluation's the chosen one, whichever began or ended last. */
export function newestLoop<Loop extends Pick<LoopRecord, "evaluation" | "parallel">>(
  loops: readonly Loop[],
): Loop | undefined {
  const goesOn = ({ evaluation, parallel }: Loop) =>
    evaluation === undefined || parallel?.isSelected === true;
  return loops.findLast(goesOn) ?? loops.at(-1);
}
