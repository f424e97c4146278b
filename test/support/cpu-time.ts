/**
 * Milliseconds that the processors have spent on this work, which is done before it returns. Unlike the time on the wall,
 * they stay the same on a machine that is busy with something else.
 */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
