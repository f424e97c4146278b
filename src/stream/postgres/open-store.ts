import { channelName, topicOf } from "../../postgres/channel.ts";
import type { Database } from "../../postgres/database.ts";
import type { Notifications } from "../../postgres/notifications.ts";
import { databaseTarget } from "../../postgres/target.ts";
import { MIGRATIONS } from "./schema.ts";

/** A run waits for none of it: what is not taken soon is dropped. */
const PATIENCE_MS = 2_000;
const LIMITS = { statementMs: 5_000, lockMs: 2_000, idleMs: 10_000 };
const MAX_CONNECTIONS = 2;

export type Opened = {
  readonly database: Database;
  readonly notifications: Notifications;
  /** By session. */
  readonly listener: Pick<Notifications, "on">;
  readonly channel: string;
};

export async function openStore(url: string): Promise<Opened> {
  const { Database } = await import("../../postgres/database.ts");
  const { Notifications } = await import("../../postgres/notifications.ts");
  const target = databaseTarget(url);
  const database = await Database.open({
    target,
    part: { name: "stream", steps: MIGRATIONS },
    patienceMs: PATIENCE_MS,
    limits: LIMITS,
    maxConnections: MAX_CONNECTIONS,
  });
  const channel = channelName(target.schema, "live");
  const notifications = new Notifications(target, channel);
  return {
    database,
    notifications,
    channel,
    listener: { on: (session, wake) => notifications.on(topicOf(session), wake) },
  };
}
