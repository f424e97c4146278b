import { readdirSync, readFileSync } from "node:fs";

// Every descriptor that Node opens is closed in the programs that it starts. When it starts itself, it arranges the same for
// the descriptors that it has inherited, but stops at the first unused number above 15. A descriptor with a higher number
// would reach the command in a sandbox: a file or a socket of the host, past every namespace.

/** `O_CLOEXEC` of the system, as /proc shows it. */
const CLOSE_ON_EXEC = 0o2000000;

let inherited: readonly number[] | undefined;

/** Lists the descriptors that programs which this process starts would have, in ascending order. They do not change while it runs. */
export function listInheritedDescriptors(): readonly number[] {
  inherited ??= readdirSync("/proc/self/fdinfo")
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isInheritable(descriptor))
    .sort((one, other) => one - other);
  return inherited;
}

function isInheritable(descriptor: number): boolean {
  try {
    const [, flags] =
      /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1")) ?? [];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // It was open only while the folder was read.
    return false;
  }
}
