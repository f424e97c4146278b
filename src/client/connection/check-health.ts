import { findSearchAttributeGaps, type SearchAttributeGaps } from "../../config/search-attribute-gaps.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { describeTranscript } from "../../store/transcript/describe-transcript.ts";
import { getErrorMessage } from "../holdfast-error.ts";
import { formatRegisterCommand } from "../runs/check-search-attributes.ts";
import { findWriteProblem } from "../sessions/store-health.ts";
import type { ClientLink } from "./client-link.ts";
import { registerSearchAttributes } from "./search-attributes.ts";

export type HealthOptions = {
  /** Registers the missing search attributes. */
  readonly register?: boolean;
};

/** The findings, or the error text of a check that could not be made. */
export type Health = {
  readonly serverVersion: string | undefined;
  readonly attributes:
    | (SearchAttributeGaps & { readonly registered: readonly string[]; readonly command: string | undefined })
    | { readonly error: string };
  readonly pollers:
    | {
        readonly workflow: number;
        readonly activity: number;
        /** Of workers that use Temporal's worker versioning. */
        readonly versions?: readonly string[];
      }
    | { readonly error: string };
  readonly transcript:
    | {
        readonly path: string;
        readonly schema: number;
        readonly exists: true;
        /** Why it cannot be written at the moment. */
        readonly problem?: string;
      }
    | { readonly path: string; readonly exists: false }
    | { readonly path: string; readonly error: string };
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
    for (const { deploymentOptions: of } of found.pollers) {
      if (of?.buildId) versions.add(`${of.deploymentName} ${of.buildId}`);
    }
    return found.pollers.length;
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
