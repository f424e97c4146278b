import { assertNever } from "../text/assert-never.ts";
import { checkPlan, isWithin, type SandboxPlan } from "./sandbox-plan.ts";

// Invariants
//   B1. No mount has Holdfast's own folder, or anything in it but its skills, as its source, except as part of a folder that
//       contains it and over which an empty folder is then mounted. The skills may only be read.
//   B2. The deepest mount decides what a path is, whatever the order of the plan's lists.
//   B3. Everything that processes can write is in the plan's writable folders, or in a file system of bounded size.
//   B4. No folder between a protected path and the writable folder that contains it can be renamed: the kernel does not
//       rename mount points. Otherwise `mv .git old; mkdir .git` would make the protected path writable.
//
// `--new-session` is absent on purpose. The supervisor kills a process group (process-group.ts), and with it the sandbox's
// first process, which remains a member of that group; the kernel then kills every process of the PID namespace, whatever
// group or session it has entered. `--new-session` would take the first process out of the group before it is bound to the
// life of bwrap. The command itself enters a session of its own (start-sandbox.ts), so that it cannot signal the watcher.

/** The text that the sandbox's proxy listens at, once it does. */
const PROXY_FILE = "/run/holdfast-proxy";

/** The parts of a system that programs need to start. Absent ones are left out. */
const SYSTEM_FOLDERS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
const SYSTEM_FILES = [
  "/etc/alternatives",
  "/etc/ca-certificates",
  "/etc/group",
  "/etc/hosts",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/nsswitch.conf",
  "/etc/passwd",
  "/etc/pki/ca-trust/extracted",
  "/etc/pki/tls/certs",
  "/etc/ssl/cert.pem",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
];
const SYSTEM_PATHS = [...SYSTEM_FOLDERS, ...SYSTEM_FILES];

/** Enough for the folders that lead to a mount. */
const EMPTY_FOLDER_BYTES = 65_536;

/** What a path is in the sandbox. */
type MountKind =
  | "writable-tmpfs"
  | "empty-folder"
  | "empty-file"
  | "read-only"
  | "writable"
  /** A writable folder that is mounted on itself: see B4. */
  | "pinned"
  | "protected";

type Mount = { readonly path: string; readonly kind: MountKind };

/** Of several kinds for one path, the last one in this order counts. */
const PRECEDENCE: readonly MountKind[] = [
  "pinned",
  "protected",
  "empty-file",
  "empty-folder",
  "writable-tmpfs",
  "writable",
  "read-only",
];

/** Builds the arguments of bwrap, without the command. Throws a `SandboxPlanError`. */
export function buildBwrapArguments(plan: SandboxPlan): string[] {
  checkPlan(plan);
  const mounts = orderMounts(plan);
  const { seccomp, status, hold } = plan.descriptors;
  return [
    ...["user", "ipc", "pid", "net", "uts", "cgroup"].map((namespace) => `--unshare-${namespace}`),
    "--die-with-parent",
    ...["--cap-drop", "ALL"],
    ...["--hostname", "sandbox"],
    "--clearenv",
    ...Object.entries(plan.env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...listSystem(plan),
    ...mounts.flatMap((mount) => formatMount(mount, plan)),
    ...(hold === undefined ? [] : ["--file", String(hold), PROXY_FILE]),
    ...mounts.filter(({ kind }) => kind === "empty-folder").flatMap(({ path }) => ["--remount-ro", path]),
    // The root of a strict sandbox is a temporary file system of bwrap, with no bound.
    ...(plan.mode === "strict" ? ["--remount-ro", "/"] : []),
    ...["--chdir", plan.cwd],
    ...["--seccomp", String(seccomp)],
    ...["--json-status-fd", String(status)],
  ];
}

function listSystem({ mode, tmpfsBytes }: SandboxPlan): string[] {
  const files =
    mode === "workspace"
      ? ["--ro-bind", "/", "/"]
      : SYSTEM_PATHS.flatMap((path) => ["--ro-bind-try", path, path]);
  return [
    ...files,
    ...["--proc", "/proc"],
    ...["--dev", "/dev"],
    ...["--size", String(tmpfsBytes), "--perms", "1777", "--tmpfs", "/dev/shm"],
    // The folder itself has no bound.
    ...["--remount-ro", "/dev"],
  ];
}

/** Returns one mount for each path, parents before their content. */
function orderMounts(plan: SandboxPlan): readonly Mount[] {
  const { workspace, writable, readable, isReadOnly } = plan;
  const changeable: MountKind = isReadOnly ? "read-only" : "writable";
  const mounts: readonly Mount[] = [
    { path: "/tmp", kind: "writable-tmpfs" },
    { path: "/run", kind: "empty-folder" },
    { path: plan.home, kind: "writable-tmpfs" },
    { path: plan.holdfastHome, kind: "empty-folder" },
    ...plan.hiddenPaths.map(
      ({ path, type }): Mount => ({ path, kind: type === "folder" ? "empty-folder" : "empty-file" }),
    ),
    { path: workspace, kind: changeable },
    ...writable.map((path): Mount => ({ path, kind: changeable })),
    ...readable.map((path): Mount => ({ path, kind: "read-only" })),
    ...(isReadOnly ? [] : listProtection(plan)),
  ];
  const byPath = new Map<string, Mount>();
  for (const mount of mounts) {
    const other = byPath.get(mount.path);
    const wins = other === undefined || PRECEDENCE.indexOf(mount.kind) > PRECEDENCE.indexOf(other.kind);
    if (wins) byPath.set(mount.path, mount);
  }
  const ordered = [...byPath.values()].sort(
    (one, other) => countParts(one.path) - countParts(other.path) || (one.path < other.path ? -1 : 1),
  );
  return ordered.filter((mount) => isNeeded(mount, ordered, plan));
}

/** The protected paths, and the folders that lead to them from the writable folder that contains them. */
function listProtection(plan: SandboxPlan): readonly Mount[] {
  const { workspace, writable, holdfastHome } = plan;
  const protectedPaths = plan.protectedPaths.filter((path) => !isWithin(path, holdfastHome));
  return protectedPaths.flatMap((path): readonly Mount[] => {
    const folders = [workspace, ...writable].filter((folder) => isWithin(path, folder));
    const parents = listParents(path).filter((parent) =>
      folders.some((folder) => parent !== folder && isWithin(parent, folder)),
    );
    return [
      ...parents.map((parent): Mount => ({ path: parent, kind: "pinned" })),
      { path, kind: "protected" },
    ];
  });
}

/**
 * Leaves out mounts without an effect, and protection of what is hidden or cannot be written: its source would bring back
 * what another mount covers. A strict sandbox has nothing to hide outside of what it contains.
 */
function isNeeded({ path, kind }: Mount, mounts: readonly Mount[], plan: SandboxPlan): boolean {
  const parent = mounts.findLast(
    (other) => other.path !== path && isWithin(path, other.path) && other.kind !== "pinned",
  );
  if (kind === "pinned" || kind === "protected") return parent?.kind === "writable";
  if (kind !== "empty-folder" && kind !== "empty-file") return true;
  if (path === "/run") return true;
  if (parent !== undefined) return parent.kind !== "empty-folder" && parent.kind !== "writable-tmpfs";
  return plan.mode === "workspace" || SYSTEM_PATHS.some((folder) => isWithin(path, folder));
}

function formatMount({ path, kind }: Mount, { home, tmpfsBytes }: SandboxPlan): string[] {
  switch (kind) {
    case "writable-tmpfs":
      return ["--size", String(tmpfsBytes), "--perms", path === home ? "0700" : "1777", "--tmpfs", path];
    case "empty-folder":
      return ["--size", String(EMPTY_FOLDER_BYTES), "--perms", "0755", "--tmpfs", path];
    case "empty-file":
      return ["--ro-bind", "/dev/null", path];
    case "read-only":
    case "protected":
      return ["--ro-bind", path, path];
    case "writable":
    case "pinned":
      return ["--bind", path, path];
    default:
      return assertNever(kind);
  }
}

/** From the outermost folder inwards, without the root. */
function listParents(path: string): string[] {
  const parts = path.split("/").slice(1, -1);
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`);
}

function countParts(path: string): number {
  return path.split("/").length;
}
