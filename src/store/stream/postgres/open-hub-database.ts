import { channelName, hashTopic } from "../../postgres/channel.ts";
import type { Database } from "../../postgres/database.ts";
import { parseDatabaseTarget } from "../../postgres/database-target.ts";
import type { Notifications } from "../../postgres/notifications.ts";
import { MIGRATIONS } from "./schema.ts";

/** Runs do not wait for live output: deltas that are not written in time are dropped. */
const DEADLINE_MS = 2_000;
const LIMITS = { statementMs: 5_000, lockMs: 2_000, idleMs: 10_000 };
const MAX_CONNECTIONS = 2;

export type HubDatabase = {
  readonly database: Database;
  readonly notifications: Notifications;
  /** Notifications by session. */
  readonly listener: Pick<Notifications, "subscribe">;
  readonly channel: string;
};

export async function openHubDatabase(url: string): Promise<HubDatabase> {
  const { Database } = await import("../../postgres/database.ts");
  const { Notifications } = await import("../../postgres/notifications.ts");
  const target = parseDatabaseTarget(url);
  const database = await Database.open({
    target,
    part: { name: "stream", steps: MIGRATIONS },
    deadlineMs: DEADLINE_MS,
    limits: LIMITS,
    maxConnections: MAX_CONNECTIONS,
  });
  const channel = channelName(target.schema, "live");
  const notifications = new Notifications(target, channel);
  return {
    database,
    notifications,
    channel,
    listener: { subscribe: (session, wake) => notifications.subscribe(hashTopic(session), wake) },
  };
}
