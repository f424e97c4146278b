import { described } from "../../store/transcript/described.ts";
import { saidBy } from "../error.ts";
import { registerCommand } from "../runs/registered.ts";
import { writingTrouble } from "../sessions/store-health.ts";
import type { Link } from "./link.ts";
import {
  registerSearchAttributes,
  type SearchAttributeGaps,
  searchAttributeGaps,
} from "./search-attributes.ts";

export type HealthOptions = {
  /** Registers the search attributes that are missing. */
  readonly register?: boolean;
};

/** What was found; where something could not be asked, what was said instead. */
export type Health = {
  readonly serverVersion: string | undefined;
  readonly attributes:
    | (SearchAttributeGaps & { readonly registered: readonly string[]; readonly command: string | undefined })
    | { readonly said: string };
  readonly pollers:
    | {
        readonly workflow: number;
        readonly activity: number;
        /** Of workers that use Temporal's worker versioning. */
        readonly versions?: readonly string[];
      }
    | { readonly said: string };
  readonly transcript:
    | {
        readonly path: string;
        readonly schema: number;
        readonly exists: true;
        /** What keeps it from being written to now. */
        readonly trouble?: string;
      }
    | { readonly path: string; readonly exists: false }
    | { readonly path: string; readonly said: string };
};

/** Numbers of `temporal.api.enums.v1.TaskQueueType`, part of the wire protocol. */
const TASK_QUEUE_TYPE = { workflow: 1, activity: 2 } as const;

export async function health(link: Link, { register = false }: HealthOptions = {}): Promise<Health> {
  const { connection, namespace, taskQueue } = link;
  const orSaid = <T>(work: Promise<T>) => work.catch((error: unknown) => ({ said: saidBy(error) }));
  const versions = new Set<string>();
  const pollersOf = async (taskQueueType: number): Promise<number> => {
    const queue = { name: taskQueue };
    const found = await connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: queue,
      taskQueueType,
    });
    for (const { deploymentOptions: of } of found.pollers) {
      if (of?.buildId) versions.add(`${of.deploymentName} ${of.buildId}`);
    }
    return found.pollers.length;
  };
  const pollers = async () => ({
    workflow: await pollersOf(TASK_QUEUE_TYPE.workflow),
    activity: await pollersOf(TASK_QUEUE_TYPE.activity),
    ...(versions.size === 0 ? {} : { versions: [...versions].sort() }),
  });
  return {
    serverVersion: await connection.workflowService
      .getSystemInfo({})
      .then(({ serverVersion }) => serverVersion || undefined)
      .catch(() => undefined),
    attributes: await orSaid(attributes(link, register)),
    pollers: await orSaid(pollers()),
    transcript: await transcript(link),
  };
}

async function attributes(link: Link, register: boolean) {
  const { connection, namespace, address } = link;
  const registered = register ? await registerSearchAttributes(connection, namespace) : [];
  const gaps = await searchAttributeGaps(connection, namespace);
  const command = gaps.missing.length === 0 ? undefined : registerCommand(address, namespace, gaps.missing);
  return { ...gaps, registered, command };
}

async function transcript({ storage }: Link): Promise<Health["transcript"]> {
  const { path, schema } = described(storage.place);
  try {
    const open = await storage.existing();
    if (open === undefined) return { path, exists: false };
    await open.sessions({ limit: 1 });
    const trouble = storage.place.database === undefined ? await writingTrouble(path) : undefined;
    return { path, exists: true, schema, ...(trouble === undefined ? {} : { trouble }) };
  } catch (error) {
    return { path, said: saidBy(error) };
  }
}
