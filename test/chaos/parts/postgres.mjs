// PostgreSQL servers of a scenario, on loopback, in its folder: to be killed, and to be followed by a streaming replica.
import { execFile, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { killAll } from "../cleanup.mjs";
import { NotPlayableError } from "../environment.mjs";
import { eventually } from "./eventually.mjs";
import { findFreePort } from "./free-port.mjs";

const run = promisify(execFile);
const USER = "holdfast";

/** Debian's packages keep the programs out of the path. */
function findBinaries() {
  const packaged = "/usr/lib/postgresql";
  const versions = existsSync(packaged) ? readdirSync(packaged).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(packaged, version, "bin")),
    ...(process.env.PATH ?? "").split(":").filter((folder) => folder !== ""),
  ];
  const found = folders.find(
    (folder) => existsSync(join(folder, "postgres")) && existsSync(join(folder, "initdb")),
  );
  if (found !== undefined) return found;
  throw new NotPlayableError("there is no PostgreSQL on this machine (Debian: apt-get install postgresql)");
}

/** PostgreSQL refuses to run as root. */
function findUnprivilegedUser() {
  if (process.getuid() !== 0) return {};
  for (const name of ["postgres", "nobody"]) {
    try {
      const id = (flag) => Number(execFileSync("id", [flag, name], { stdio: "pipe" }));
      return { uid: id("-u"), gid: id("-g") };
    } catch {
      // The next one.
    }
  }
  throw new NotPlayableError(
    "PostgreSQL does not run as root, and there is neither a user postgres nor nobody",
  );
}

/** A server with an empty database, whose commits are on disk. */
export async function startPostgres(stage, { label = "primary", settings = {} } = {}) {
  const { server, folder, data, port } = await prepare(stage, label);
  const auth = ["--auth=trust", "--encoding=UTF8", "--no-sync", "--no-instructions"];
  await run(join(server.bin, "initdb"), ["-D", data, "-U", USER, ...auth], server.options(folder));
  // Trust: only this machine reaches it, and it holds nothing of value.
  writeFileSync(
    join(data, "pg_hba.conf"),
    "host all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n",
  );
  configure(data, port, settings);
  return await server.start({ folder, data, port, label });
}

/** A replica that every commit of the primary waits for, so that a failover may lose none. */
export async function followPostgres(stage, primary, label = "replica") {
  const { server, folder, data, port } = await prepare(stage, label);
  const from = `host=127.0.0.1 port=${primary.port} user=${USER} application_name=${label}`;
  await run(
    join(server.bin, "pg_basebackup"),
    ["-D", data, "-d", from, "-R", "-X", "stream", "--checkpoint=fast", "--no-sync"],
    server.options(folder),
  );
  configure(data, port);
  const replica = await server.start({ folder, data, port, label });
  await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '${label}'`);
  await primary.query("SELECT pg_reload_conf()");
  await eventually(
    async () => {
      const { rows } = await primary.query("SELECT sync_state FROM pg_stat_replication");
      return rows.some(({ sync_state }) => sync_state === "sync");
    },
    { what: "the replica" },
  );
  return {
    ...replica,
    /** Makes it the primary, without a replica of its own. */
    promote: async () => {
      await replica.query("ALTER SYSTEM SET synchronous_standby_names = ''");
      await replica.query("SELECT pg_promote(true, 60)");
    },
  };
}

async function prepare(stage, label) {
  const bin = findBinaries();
  const as = findUnprivilegedUser();
  const folder = join(stage.folder, label);
  mkdirSync(folder, { recursive: true });
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid);
  const options = (cwd) => ({ ...as, cwd, env: { ...process.env, LC_ALL: "C.UTF-8", TZ: "UTC" } });
  const server = { bin, options, start: (what) => launch(stage, bin, options(folder), what) };
  return { server, folder, data: join(folder, "data"), port: await findFreePort() };
}

function configure(data, port, more = {}) {
  const settings = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: "",
    fsync: "on",
    shared_buffers: "32MB",
    max_connections: 200,
    wal_level: "replica",
    hot_standby: "on",
    ...more,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'`);
  writeFileSync(join(data, "postgresql.conf"), `${lines.join("\n")}\n`);
}

async function launch(stage, bin, options, { data, port, label }) {
  const url = `postgresql://${USER}@127.0.0.1:${port}/postgres`;
  let child;
  let log = "";
  const start = async () => {
    const begin = () => {
      stage.mustBeOpen();
      child = spawn(join(bin, "postgres"), ["-D", data], { ...options, stdio: ["ignore", "ignore", "pipe"] });
      child.on("error", () => {});
      child.stderr.setEncoding("utf8").on("data", (text) => {
        log = (log + text).slice(-20_000);
      });
    };
    begin();
    await eventually(
      async () => {
        if (child.exitCode !== null || child.signalCode !== null) {
          // What a server that was killed held is not always free at once.
          begin();
          throw new Error(`PostgreSQL ${label} has ended:\n${log}`);
        }
        return await isAnswering(url);
      },
      { timeoutMs: 60_000, everyMs: 100, what: `PostgreSQL ${label}` },
    );
  };
  /** SIGKILL for the server and all of its sessions, as when its machine dies. */
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    killAll([{ pid: child.pid }, ...listChildren(child.pid)]);
    await ended;
  };
  await start();
  stage.onEnd(kill);
  return { url, port, start, kill, query: (text) => runQuery(url, text) };
}

/**
 * A neighbour that shares the server, as Temporal does on a cluster: it takes transaction numbers as fast as it can,
 * from the first moment after each start of the server.
 */
export function keepBusy(stage, url) {
  let isOver = false;
  stage.onEnd(() => {
    isOver = true;
  });
  const work = async () => {
    while (!isOver) {
      const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
      client.on("error", () => {});
      try {
        await client.connect();
        await client.query("CREATE TABLE IF NOT EXISTS neighbour (at bigint); SET synchronous_commit = off");
        while (!isOver) await client.query("INSERT INTO neighbour VALUES (1)");
      } catch {
        await sleep(5);
      } finally {
        client.end().catch(() => {});
      }
    }
  };
  void work();
}

function listChildren(parent) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        // The parent's id is the second field after the name, which may hold anything.
        return stat.split(") ").at(-1).split(" ")[1] === String(parent) ? [{ pid: Number(name) }] : [];
      } catch {
        return [];
      }
    });
}

async function runQuery(url, text) {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    return await client.query(text);
  } finally {
    await client.end().catch(() => {});
  }
}

async function isAnswering(url) {
  try {
    await runQuery(url, "SELECT 1");
    return true;
  } catch {
    return false;
  }
}
