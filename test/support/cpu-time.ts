/**
 * Returns the milliseconds of processor time of synchronous work. Unlike wall-clock time, they do not depend on other load
 * of the machine.
 */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
