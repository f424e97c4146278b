import type { HostFact } from "../../core/permission/call-facts.ts";
import { getDefaultPort, UNKNOWN_HOST } from "../../core/permission/host-glob.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";

// Finds the hosts that a command may reach, as far as its words tell. A rule that asks or denies applies to every word that
// may be a host. A rule that allows by host applies only to plain calls of curl and wget.

/** Parses the host of a URL or of `host:port`, in normalized form. Returns nothing for any other text. */
export function parseHost(text: string): HostFact | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  const rest = scheme === undefined ? text : text.slice(scheme.length + 3);
  const authority = /^[^/?#\\\s]*/.exec(rest)?.[0] ?? "";
  const hostPart = authority.slice(authority.lastIndexOf("@") + 1);
  // Parsed as an HTTP URL, so that names, numbers and ports are read as programs read them.
  const address = `http://${hostPart}`;
  if (hostPart === "" || !URL.canParse(address)) return undefined;
  const { hostname, port } = new URL(address);
  if (hostname === "") return undefined;
  const explicitPort = port !== "" ? Number(port) : /:80$/.test(hostPart) ? 80 : undefined;
  const effectivePort =
    explicitPort ?? (scheme === undefined ? undefined : getDefaultPort(scheme.replace(/^git\+/, "")));
  return {
    host: hostname.replace(/\.$/, ""),
    ...omitUndefined({ port: effectivePort }),
  };
}

/** Programs that reach a host. Any of their words may name it. */
const NETWORK_PROGRAMS =
  /^(curl|wget|aria2c|http|https|xh|ssh|scp|sftp|rsync|ftp|telnet|nc|ncat|netcat|socat|ping|dig|nslookup|host|git|gh|npm|npx|yarn|pnpm|bun|pip[\d.]*|docker|podman|kubectl|helm|cargo|go|gem|apt|apt-get|brew|aws|gcloud|psql|mysql|redis-cli|openssl)$/;
/** The programs among them that reach nothing without a host argument. */
const HOST_REQUIRED_PROGRAMS =
  /^(curl|wget|aria2c|http|https|xh|ssh|scp|sftp|rsync|ftp|telnet|nc|ncat|netcat|socat|ping)$/;
/** Git subcommands that use no network. */
const LOCAL_GIT_COMMANDS =
  /^(add|am|apply|bisect|blame|branch|cat-file|checkout|cherry-pick|clean|commit|config|describe|diff|for-each-ref|gc|grep|init|log|ls-files|ls-tree|merge|mv|notes|rebase|reflog|reset|restore|rev-list|rev-parse|revert|rm|shortlog|show|stash|status|switch|tag|worktree)$/;
const LOCAL_NPM_COMMANDS =
  /^(run|run-script|test|t|start|stop|restart|ls|list|pack|config|pkg|version|root|prefix|bin|exec)$/;
const URLS = /[a-z][a-z0-9+.-]*:\/\/[^\s'"<>|]+/gi;
/** `host:path` and `user@host:path`. */
const REMOTE_PATH = /^(?:[^@/\s:]+@)?([A-Za-z0-9.-]+|\[[0-9a-fA-F:.]+\]):(?!\/\/)/;

export type ReachedHosts = {
  readonly hosts: readonly HostFact[];
  /** The hosts are complete: the command reaches nothing else. */
  readonly isComplete: boolean;
};

export function findReachedHosts(words: readonly string[]): ReachedHosts {
  const [name = "", ...args] = words;
  const program = name.slice(name.lastIndexOf("/") + 1);
  const found = args.flatMap((word) => word.match(URLS) ?? []).flatMap((url) => parseHost(url) ?? []);
  if (!NETWORK_PROGRAMS.test(program)) return { hosts: removeDuplicateHosts(found), isComplete: false };
  const fetched = name === program ? findFetchedHosts(program, args) : undefined;
  if (fetched !== undefined) return { hosts: removeDuplicateHosts(fetched), isComplete: true };
  const bare = HOST_REQUIRED_PROGRAMS.test(program)
    ? args.filter((word) => !word.startsWith("-")).flatMap((word) => parseHost(word) ?? [])
    : [];
  const remote = args.flatMap((word) => {
    const host = REMOTE_PATH.exec(word)?.[1];
    return host === undefined ? [] : (parseHost(host) ?? []);
  });
  const hosts = removeDuplicateHosts([...found, ...bare, ...remote]);
  if (hosts.length > 0 || isLocal(program, args)) return { hosts, isComplete: false };
  return { hosts: [{ host: UNKNOWN_HOST }], isComplete: false };
}

function isLocal(program: string, args: readonly string[]): boolean {
  const subcommand = args[0] ?? "--help";
  if (/^(--help|--version|-h|-v|-V|help|version)$/.test(subcommand)) return true;
  if (program === "git") return LOCAL_GIT_COMMANDS.test(subcommand);
  return /^(npm|yarn|pnpm|bun)$/.test(program) && LOCAL_NPM_COMMANDS.test(subcommand);
}

/** Options that name neither another host nor a file to read or write. */
const FETCH_OPTIONS: Readonly<Record<string, { readonly flags: RegExp; readonly values: RegExp }>> = {
  curl: {
    flags:
      /^(-[sSfiIvgG]+|--(silent|show-error|fail|fail-with-body|include|head|verbose|compressed|get|globoff))$/,
    values: /^(-[XHAmd]|--(request|header|user-agent|max-time|connect-timeout|data|data-raw|json|retry))$/,
  },
  wget: { flags: /^(-[qSv]+|-qO-|-O-|--(quiet|spider|server-response|max-redirect=0))$/, values: /^$/ },
};
/** A URL in which every parser sees the same host: no user names, no brackets, no backslashes. */
const PLAIN_URL = /^https?:\/\/[A-Za-z0-9.-]+(:\d+)?([/?#][^\s\\@{}[\]]*)?$/;

/** Returns undefined if the words do not determine everything that the command does. wget follows redirects by default. */
function findFetchedHosts(program: string, args: readonly string[]): readonly HostFact[] | undefined {
  const fetcher = Object.hasOwn(FETCH_OPTIONS, program) ? FETCH_OPTIONS[program] : undefined;
  if (fetcher === undefined) return undefined;
  if (program === "wget" && !args.includes("--max-redirect=0")) return undefined;
  const hosts: HostFact[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at]!;
    if (fetcher.values.test(word)) {
      at += 1;
      const value = args[at] ?? "";
      if (value.startsWith("@") || /^host\s*:/i.test(value)) return undefined;
    } else if (word.startsWith("-")) {
      if (!fetcher.flags.test(word)) return undefined;
    } else {
      const host = PLAIN_URL.test(word) ? parseHost(word) : undefined;
      if (host === undefined) return undefined;
      hosts.push(host);
    }
  }
  return hosts.length === 0 ? undefined : hosts;
}

export function removeDuplicateHosts(hosts: readonly HostFact[]): readonly HostFact[] {
  return hosts.filter(
    ({ host, port }, at) => hosts.findIndex((other) => other.host === host && other.port === port) === at,
  );
}
