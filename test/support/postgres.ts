import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chownSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { findFreePort } from "../../src/devserver/find-free-port.ts";
import { eventually } from "./eventually.ts";

const run = promisify(execFile);

/** A PostgreSQL server of one test or test run, in its own folder, which listens only on loopback. */
export type PostgresServer = {
  readonly port: number;
  /** Returns the URL of a database of the server. */
  url(database?: string, parameters?: Readonly<Record<string, string>>): string;
  /** Creates an empty database. */
  database(): Promise<string>;
  /** Kills the server as a machine failure does; committed data is on disk. */
  kill(): Promise<void>;
  /** Stops the server by an immediate shutdown without a checkpoint, so that it recovers from its log when it starts. */
  crash(): Promise<void>;
  /** Stops the server by a fast shutdown, which notifies the sessions. */
  shutDown(): Promise<void>;
  /** Restarts the server on the same port with the same data. */
  start(): Promise<void>;
  stop(): Promise<void>;
};

const START_TIMEOUT_MS = 30_000;
const USER = "holdfast";

/** The exit code of the part of the script that watches the pipe, when this process has ended. */
const ABANDONED = 77;

/**
 * Runs the server until it ends or this process's end of the pipe closes, so that neither the server nor its folder, the
 * current one, outlives this process.
 */
const SERVER_SCRIPT = `exec 3<&0
"$0" "$@" </dev/null 3<&- & server=$!
{ cat <&3 >/dev/null; kill -INT $server 2>/dev/null; exit ${ABANDONED}; } & watch=$!
exec 3<&-
wait $server; code=$?
kill $watch 2>/dev/null; wait $watch
[ $? -eq ${ABANDONED} ] && rm -rf "$PWD"
exit $code`;

/** Why tests with PostgreSQL are skipped. */
export const NO_POSTGRES = "PostgreSQL is not installed (Debian: apt-get install postgresql)";

/** Finds PostgreSQL's binaries, which Debian's packages do not put on PATH. */
export function findPostgresBinaries(): string | undefined {
  const packaged = "/usr/lib/postgresql";
  const versions = existsSync(packaged) ? readdirSync(packaged).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(packaged, version, "bin")),
    ...(process.env["PATH"] ?? "").split(":").filter((folder) => folder !== ""),
  ];
  return folders.find((folder) => existsSync(join(folder, "postgres")) && existsSync(join(folder, "initdb")));
}

/** Returns the user that runs the server, which does not run as root. */
async function findUnprivilegedUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (userInfo().uid !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    const found = await run("id", ["-u", name]).catch(() => undefined);
    const group = await run("id", ["-g", name]).catch(() => undefined);
    if (found !== undefined && group !== undefined) {
      return { uid: Number(found.stdout), gid: Number(group.stdout) };
    }
  }
  throw new Error("PostgreSQL does not run as root, and neither the user postgres nor nobody exists");
}

/** A server that replicates another one, read-only until it is promoted. */
export type PostgresStandby = PostgresServer & {
  /** Promotes the server to primary. Its address does not change. */
  promote(): Promise<void>;
};

/**
 * @param parent - The folder in which the server's own folder is created.
 * @throws If PostgreSQL is not installed: check `findPostgresBinaries` first.
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  parent = tmpdir(),
): Promise<PostgresServer> {
  const home = await createHome(parent);
  // Trust authentication: only this machine can reach the server, and it has no real data.
  const flags = ["-U", USER, "--auth=trust", "--encoding=UTF8", "--no-sync", "--no-instructions"];
  await run(join(home.binaries, "initdb"), ["-D", home.data, ...flags], home.options);
  return serve(home, settings);
}

/**
 * Copies a running server to a standby that replicates it by streaming. The caller decides whether commits of the
 * primary server wait for the standby (`waitForStandby`).
 */
export async function startStandby(
  primary: PostgresServer,
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresStandby> {
  const home = await createHome(tmpdir());
  const from = ["-h", "127.0.0.1", "-p", String(primary.port), "-U", USER];
  const flags = ["--wal-method=stream", "--write-recovery-conf", "--checkpoint=fast", "--no-sync"];
  await run(join(home.binaries, "pg_basebackup"), [...from, "-D", home.data, ...flags], home.options);
  const server = await serve(home, settings);
  return {
    ...server,
    promote: async () => {
      const promoted = await runQuery<{ ok: boolean }>(server.url(), "SELECT pg_promote(true, 60) AS ok");
      if (promoted[0]?.ok !== true) throw new Error("PostgreSQL's standby was not promoted within 60 s");
    },
  };
}

/** Makes commits wait for the standby, and waits until a standby replicates. */
export async function waitForStandby(primary: PostgresServer): Promise<void> {
  await runQuery(primary.url(), "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await runQuery(primary.url(), "SELECT pg_reload_conf()");
  const following = "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'";
  await eventually(async () => (await runQuery(primary.url(), following)).length > 0, {
    timeoutMs: START_TIMEOUT_MS,
    everyMs: 50,
    what: "a synchronous standby",
  });
}

async function runQuery<Row>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client(url);
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** The files of one server in a folder of its own, and the options of its processes. */
type PostgresHome = {
  readonly binaries: string;
  readonly folder: string;
  readonly data: string;
  readonly options: { uid?: number; gid?: number; cwd: string; env: Record<string, string> };
};

async function createHome(parent: string): Promise<PostgresHome> {
  const binaries = findPostgresBinaries();
  if (binaries === undefined) throw new Error("PostgreSQL is not installed on this machine");
  const as = await findUnprivilegedUser();
  const folder = await mkdtemp(join(parent, "holdfast-postgres-"));
  if (as !== undefined) chownSync(folder, as.uid, as.gid);
  const environment = { PATH: process.env["PATH"] ?? "", LC_ALL: "C.UTF-8", TZ: "UTC" };
  return { binaries, folder, data: join(folder, "data"), options: { ...as, cwd: folder, env: environment } };
}

async function serve(
  { binaries, folder, data, options }: PostgresHome,
  settings: Readonly<Record<string, string>>,
): Promise<PostgresServer> {
  const port = await findFreePort(0);
  const all = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    fsync: "on",
    shared_buffers: "32MB",
    max_connections: "200",
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  await writeFile(join(data, "postgresql.conf"), `${lines.join("\n")}\n`);

  let server: ChildProcess | undefined;
  let log = "";
  let databases = 0;
  const formatUrl: PostgresServer["url"] = (database = "postgres", parameters = {}) => {
    const query = new URLSearchParams(parameters).toString();
    return `postgresql://${USER}@127.0.0.1:${port}/${database}${query === "" ? "" : `?${query}`}`;
  };
  const launchServer = (): ChildProcess => {
    const child = spawn("sh", ["-c", SERVER_SCRIPT, join(binaries, "postgres"), "-D", data], {
      ...options,
      stdio: ["pipe", "ignore", "pipe"],
    });
    server = child;
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-20_000);
    });
    return child;
  };
  const start = async () => {
    let child = launchServer();
    await eventually(
      async () => {
        if (child.exitCode === null) return isAnswering(formatUrl());
        const { exitCode } = child;
        // The resources of a killed server may not be free immediately.
        child = launchServer();
        throw new Error(`PostgreSQL ended with ${exitCode}:\n${log}`);
      },
      { timeoutMs: START_TIMEOUT_MS, everyMs: 100, what: "PostgreSQL" },
    );
  };
  const endServer = async (signalServer: (postmaster: number) => void) => {
    const child = server;
    server = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    signalServer(Number((await readFile(join(data, "postmaster.pid"), "utf8")).split("\n")[0]));
    await ended;
  };
  const shutDown = () => endServer((postmaster) => process.kill(postmaster, "SIGINT"));
  await start();
  return {
    port,
    url: formatUrl,
    database: async () => {
      databases += 1;
      const name = `test_${process.pid}_${databases}`;
      await runQuery(formatUrl(), `CREATE DATABASE ${name}`);
      return name;
    },
    kill: () =>
      endServer((postmaster) => {
        for (const pid of [postmaster, ...listChildren(postmaster)]) kill(pid);
      }),
    crash: () => endServer((postmaster) => process.kill(postmaster, "SIGQUIT")),
    shutDown,
    start,
    stop: async () => {
      await shutDown();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Lists the child processes of a process: a server's session processes briefly outlive it. */
function listChildren(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        // The parent's id is the second field after the name, which may contain any characters.
        return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ")[1] === String(parent);
      } catch {
        return false;
      }
    });
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

async function isAnswering(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
