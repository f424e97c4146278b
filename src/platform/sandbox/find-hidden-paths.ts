import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { createPresenceCheck } from "./presence.ts";
import type { HiddenPath } from "./sandbox-plan.ts";

/** Folders and files of the system with data of users and secrets of services. Root may read all of them. */
const SYSTEM_PATHS = [
  "/home",
  "/root",
  "/var/tmp",
  "/var/run",
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/etc/sudoers.d",
  "/etc/krb5.keytab",
  "/etc/ssl/private",
  "/etc/letsencrypt",
  "/etc/wireguard",
  "/etc/openvpn",
  "/etc/docker",
  "/etc/kubernetes",
  "/etc/NetworkManager/system-connections",
  "/var/backups",
  "/var/lib/cloud",
  "/var/lib/containerd",
  "/var/lib/docker",
  "/var/lib/kubelet",
  "/var/mail",
  "/var/spool",
];

const SSH_HOST_KEY = /^ssh_host_.*_key$/;

/** Keys and passwords in a home folder, for sandboxes that contain it because the workspace or a setting does. */
const HOME_PATHS = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".config/gcloud",
  ".config/gh",
  ".config/git/credentials",
  ".config/google-chrome",
  ".docker",
  ".git-credentials",
  ".kube",
  ".local/share/keyrings",
  ".mozilla",
  ".netrc",
  ".npmrc",
  ".password-store",
  ".pypirc",
  ".terraform.d",
  ".vault-token",
  ".bash_history",
  ".zsh_history",
];

/** Finds the existing paths that a sandbox hides. @param home - The user's home folder, without symbolic links. */
export async function findHiddenPaths(home: string): Promise<readonly HiddenPath[]> {
  const keys = (await readdir("/etc/ssh").catch(() => [])).filter((name) => SSH_HOST_KEY.test(name));
  const paths = [
    ...SYSTEM_PATHS,
    ...keys.map((name) => join("/etc/ssh", name)),
    ...(home === "/" ? [] : [home, ...HOME_PATHS.map((name) => join(home, name))]),
  ];
  const mayExist = createPresenceCheck();
  const resolve = async (path: string) => ((await mayExist(path)) ? await resolveHidden(path) : []);
  const found = await Promise.all([...new Set(paths)].map(resolve));
  return [...new Map(found.flat().map((hidden) => [hidden.path, hidden])).values()];
}

/** A path that leads through a symbolic link hides what the link leads to. */
async function resolveHidden(path: string): Promise<readonly HiddenPath[]> {
  try {
    const target = await realpath(path);
    if (target === "/") return [];
    return [{ path: target, type: (await stat(target)).isDirectory() ? "folder" : "file" }];
  } catch {
    // It does not exist, or the worker cannot read it either.
    return [];
  }
}
