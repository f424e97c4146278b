import { findSearchAttributeGaps, type SearchAttributeGaps } from "../../config/search-attribute-gaps.ts";
import { removeKeysFromIdentity } from "../../platform/encryption/worker-keys.ts";
import { isIdOfDeadProcess } from "../../platform/process/process-id.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { describeTranscript } from "../../store/transcript/describe-transcript.ts";
import { getErrorMessage } from "../holdfast-error.ts";
import { formatRegisterCommand } from "../runs/check-search-attributes.ts";
import { findWriteProblem } from "../sessions/store-health.ts";
import type { ClientLink } from "./client-link.ts";
import { registerSearchAttributes } from "./search-attributes.ts";

/** What `holdfast.health` does beyond looking. */
export type HealthOptions = {
  /** Registers the missing search attributes. */
  readonly register?: boolean;
};

/** The findings, or the error text of a check that could not be made. */
export type Health = {
  /** The version that Temporal's server reports; `undefined` if it does not answer. */
  readonly serverVersion: string | undefined;
  /** The search attributes of the namespace. */
  readonly attributes:
    | (SearchAttributeGaps & {
        /** The attributes that this check has registered. */
        readonly registered: readonly string[];
        /** The command that registers the missing attributes; `undefined` if none is missing. */
        readonly command: string | undefined;
      })
    | {
        /** Why the attributes could not be listed. */
        readonly error: string;
      };
  /** The workers that poll the task queue. */
  readonly pollers:
    | {
        /** The number of pollers for workflow tasks. */
        readonly workflow: number;
        /** The number of pollers for activities. */
        readonly activity: number;
        /** Of workers that use Temporal's worker versioning. */
        readonly versions?: readonly string[];
      }
    | {
        /** Why the pollers could not be listed. */
        readonly error: string;
      };
  /** The store of the sessions on this machine, or the database. */
  readonly transcript:
    | {
        /** The file, or the database's address without its password. */
        readonly path: string;
        /** The number of the store's schema. */
        readonly schema: number;
        readonly exists: true;
        /** Why it cannot be written at the moment. */
        readonly problem?: string;
      }
    | {
        /** The file, or the database's address without its password. */
        readonly path: string;
        readonly exists: false;
      }
    | {
        /** The file, or the database's address without its password. */
        readonly path: string;
        /** Why the store could not be read. */
        readonly error: string;
      };
};

/** The numbers of `temporal.api.enums.v1.TaskQueueType`, part of the wire protocol. */
const TASK_QUEUE_TYPE = { workflow: 1, activity: 2 } as const;

export async function checkHealth(
  link: ClientLink,
  { register = false }: HealthOptions = {},
): Promise<Health> {
  const { connection, namespace, taskQueue } = link;
  const orError = <T>(work: Promise<T>) =>
    work.catch((error: unknown) => ({ error: getErrorMessage(error) }));
  const versions = new Set<string>();
  const readPollers = async (taskQueueType: number): Promise<number> => {
    const queue = { name: taskQueue };
    const found = await connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: queue,
      taskQueueType,
    });
    // The server lists the pollers of a killed worker for five minutes.
    const polling = found.pollers.filter(
      ({ identity }) => !isIdOfDeadProcess(removeKeysFromIdentity(identity ?? "")),
    );
    for (const { deploymentOptions: of } of polling) {
      if (of?.buildId) versions.add(`${of.deploymentName} ${of.buildId}`);
    }
    return polling.length;
  };
  const pollers = async () => ({
    workflow: await readPollers(TASK_QUEUE_TYPE.workflow),
    activity: await readPollers(TASK_QUEUE_TYPE.activity),
    ...(versions.size === 0 ? {} : { versions: [...versions].sort() }),
  });
  return {
    serverVersion: await connection.workflowService
      .getSystemInfo({})
      .then(({ serverVersion }) => serverVersion || undefined)
      .catch(() => undefined),
    attributes: await orError(checkAttributes(link, register)),
    pollers: await orError(pollers()),
    transcript: await checkTranscript(link),
  };
}

async function checkAttributes(link: ClientLink, register: boolean) {
  const { connection, namespace, address } = link;
  const registered = register ? await registerSearchAttributes(connection, namespace) : [];
  const gaps = await findSearchAttributeGaps(connection, namespace);
  const command =
    gaps.missing.length === 0 ? undefined : formatRegisterCommand(address, namespace, gaps.missing);
  return { ...gaps, registered, command };
}

async function checkTranscript({ storage }: ClientLink): Promise<Health["transcript"]> {
  const { path, schema } = describeTranscript(storage.place);
  try {
    const open = await storage.openExistingTranscript();
    if (open === undefined) return { path, exists: false };
    await open.findSessions({ limit: 1 });
    const problem = storage.place.database === undefined ? await findWriteProblem(path) : undefined;
    return { path, exists: true, schema, ...omitUndefined({ problem }) };
  } catch (error) {
    return { path, error: getErrorMessage(error) };
  }
}
