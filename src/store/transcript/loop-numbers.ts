/**
 * Numbers for the loops of one evaluation, its branches in order and then its judge: "{session}.{segment}.{number}".
 *
 * They rise by one from loop to loop, whichever segment it has, and begin behind every number that one of the segments
 * has had in the session: two equal configurations never share an id (X-16, PAR-13). A new session gives 1, 2, 3.
 *
 * @param last - The highest number of a segment so far; 0 when it has had none.
 */
export function assignLoopNumbers(
  segments: readonly string[],
  last: (segment: string) => number,
): readonly number[] {
  const before = segments.reduce((highest, segment) => Math.max(highest, last(segment)), 0);
  return segments.map((_, index) => before + 1 + index);
}
