import { findBoundsProblem, resolveBounds, type SandboxBounds } from "./sandbox-bounds.ts";

/** How much of the host a sandbox contains. Without a sandbox there is no plan. */
export type SandboxedMode = "workspace" | "strict";

/** An existing path whose content a sandbox does not contain. */
export type HiddenPath = { readonly path: string; readonly type: "folder" | "file" };

/**
 * Everything that decides the content of a sandbox. All paths are absolute, without symbolic links, and exist on the host,
 * except that `home` may be absent below a hidden folder.
 */
export type SandboxPlan = {
  readonly mode: SandboxedMode;
  readonly workspace: string;
  /** Whether `workspace` and `writable` may only be read. */
  readonly isReadOnly: boolean;
  /** The working directory, within a path that the sandbox contains. */
  readonly cwd: string;
  /** The processes' own home folder: empty, writable and bounded. */
  readonly home: string;
  /** The folder of the worker's own data, of which a sandbox contains at most the skills. */
  readonly holdfastHome: string;
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Paths in `workspace` or `writable` that may only be read. */
  readonly protectedPaths: readonly string[];
  /** Hidden, unless `readable`, `writable` or the workspace is the path itself or within it. */
  readonly hiddenPaths: readonly HiddenPath[];
  /** The size of each temporary file system that processes may write. */
  readonly tmpfsBytes: number;
  /** What the processes may use; absent ones have their default. */
  readonly bounds?: Partial<SandboxBounds> | undefined;
  readonly descriptors: SandboxDescriptors;
};

/** Numbers of open descriptors of bwrap. */
type SandboxDescriptors = {
  /** The end from which bwrap reads the filter of system calls. */
  readonly seccomp: number;
  /** Where bwrap writes the process id and the exit code of the sandbox, as JSON. */
  readonly status: number;
  /** A pipe whose end lets the command start; its text becomes `PROXY_FILE`. */
  readonly hold?: number | undefined;
};

/** A plan that no sandbox can be built from: a mistake in settings, or in the program. */
export class SandboxPlanError extends Error {
  override readonly name = "SandboxPlanError";
}

/** File systems of the kernel. The sandbox has its own, so a path in them would not mean the same. */
const KERNEL_FOLDERS = ["/proc", "/dev", "/sys"];

/** The folder of the user's skills in Holdfast's own folder: what commands read and run of it is meant for them. */
const SKILLS_FOLDER = "skills";

/** A smaller temporary file system does not even hold a page for each file. */
const MIN_TMPFS_BYTES = 65_536;

/** Checks what the types cannot express. Throws a `SandboxPlanError`. */
export function checkPlan(plan: SandboxPlan): void {
  if (plan.mode !== "workspace" && plan.mode !== "strict") {
    throw new SandboxPlanError(`There is no sandbox of mode ${String(plan.mode)}`);
  }
  const bound = [plan.workspace, ...plan.readable, ...plan.writable];
  for (const path of [
    ...bound,
    plan.cwd,
    plan.home,
    plan.holdfastHome,
    ...plan.protectedPaths,
    ...plan.hiddenPaths.map(({ path }) => path),
  ]) {
    if (!isPlainPath(path))
      throw new SandboxPlanError(`${JSON.stringify(path)} is not a plain absolute path`);
  }
  for (const path of bound) {
    if (KERNEL_FOLDERS.some((folder) => isWithin(path, folder)) || path === "/run") {
      throw new SandboxPlanError(`${path} cannot be part of a sandbox: the sandbox has its own`);
    }
    const mayBeSkills = path !== plan.workspace && !plan.writable.includes(path);
    const isSkills = mayBeSkills && isWithin(path, `${plan.holdfastHome}/${SKILLS_FOLDER}`);
    if (isWithin(path, plan.holdfastHome) && !isSkills) {
      throw new SandboxPlanError(
        `${path} cannot be part of a sandbox: it is in Holdfast's own folder, ${plan.holdfastHome}`,
      );
    }
  }
  if (!bound.some((path) => isWithin(plan.cwd, path))) {
    throw new SandboxPlanError(
      `The working directory ${plan.cwd} is not part of the sandbox; list it in \`readable\` or \`writable\` of its settings`,
    );
  }
  const changeable = [plan.workspace, ...plan.writable];
  const outside = plan.protectedPaths.find(
    (path) => !changeable.some((folder) => path !== folder && isWithin(path, folder)),
  );
  if (outside !== undefined) throw new SandboxPlanError(`${outside} is in no folder that can be written`);
  for (const [name, value] of Object.entries(plan.env)) {
    if (name === "" || /[=\0]/.test(name) || value.includes("\0")) {
      throw new SandboxPlanError(`${JSON.stringify(name)} cannot be a variable of the environment`);
    }
  }
  if (!Number.isSafeInteger(plan.tmpfsBytes) || plan.tmpfsBytes < MIN_TMPFS_BYTES) {
    throw new SandboxPlanError(`A temporary file system of ${plan.tmpfsBytes} bytes is too small`);
  }
  const boundsProblem = findBoundsProblem(resolveBounds(plan.bounds));
  if (boundsProblem !== undefined) throw new SandboxPlanError(boundsProblem);
  const numbers = Object.values(plan.descriptors).filter((number) => number !== undefined);
  if (new Set(numbers).size !== numbers.length || numbers.some((n) => !Number.isSafeInteger(n) || n < 3)) {
    throw new SandboxPlanError(`The descriptors ${numbers.join(", ")} are not distinct numbers from 3 on`);
  }
}

/** Returns whether a path is a folder or in it. Both are plain paths. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === "/" || path.startsWith(`${folder}/`);
}

/** An absolute path with neither `.`, `..` nor empty parts, and not the root. */
function isPlainPath(path: string): boolean {
  const [first, ...parts] = path.split("/");
  return (
    first === "" &&
    parts.length > 0 &&
    parts.every((part) => part !== "" && part !== "." && part !== "..") &&
    !path.includes("\0")
  );
}
