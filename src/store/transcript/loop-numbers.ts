/**
 * Assigns numbers to the loops of one evaluation, first its branches in order, then its judge:
 * "{session}.{segment}.{number}".
 *
 * They increase by one from loop to loop, for all segments, and begin after the highest number of any of the segments in
 * the session, so that two equal configurations never share an id (X-16, PAR-13). A new session gives 1, 2, 3.
 *
 * @param last - Returns the highest number of a segment so far, or 0.
 */
export function assignLoopNumbers(
  segments: readonly string[],
  last: (segment: string) => number,
): readonly number[] {
  const before = segments.reduce((highest, segment) => Math.max(highest, last(segment)), 0);
  return segments.map((_, index) => before + 1 + index);
}
