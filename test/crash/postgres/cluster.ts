import { type CuttingProxy, startCuttingProxy } from "../../support/cutting-proxy.ts";
import {
  type PostgresServer,
  type PostgresStandby,
  startPostgres,
  startStandby,
  waitForStandby,
} from "../../support/postgres.ts";

/** What nobody waits for stays in memory, so that a crash loses as much as possible. */
const CRASH_SETTINGS = { wal_writer_delay: "10s" };

/** A primary server behind a stable address, whatever happens to the server. */
export type Cluster = {
  readonly proxy: CuttingProxy;
  /** At the stable address. */
  url(database: string): string;
  database(): Promise<string>;
  /** Kills the server immediately, and starts it again. */
  killAndStart(how: "kill" | "crash"): Promise<void>;
  /** A standby that every commit waits for. */
  prepareStandby(): Promise<void>;
  /** Ends the primary server for good, and promotes the standby. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
};

export async function startCluster(): Promise<Cluster> {
  let primary: PostgresServer = await startPostgres(CRASH_SETTINGS);
  let standby: PostgresStandby | undefined;
  const proxy = await startCuttingProxy(primary.port);
  return {
    proxy,
    url: (database) => primary.url(database).replace(`:${primary.port}/`, `:${proxy.port}/`),
    database: () => primary.database(),
    killAndStart: async (how) => {
      await primary[how]();
      await primary.start();
    },
    prepareStandby: async () => {
      standby ??= await startStandby(primary, CRASH_SETTINGS);
      await waitForStandby(primary);
    },
    failOver: async () => {
      if (standby === undefined) throw new Error("There is no standby to fail over to");
      const old = primary;
      await old.kill();
      // Clients find it before its promotion: it must reject what only a primary server can answer.
      proxy.targetPort = standby.port;
      await standby.promote();
      primary = standby;
      standby = undefined;
      await old.stop();
    },
    stop: async () => {
      await proxy.close();
      await standby?.stop();
      await primary.stop();
    },
  };
}
