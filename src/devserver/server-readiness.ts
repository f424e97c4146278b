import { connect } from "node:net";
import { Connection } from "@temporalio/client";
import { RETRY_UNTIL_CLOSED } from "../platform/retry-until-closed.ts";

/** The service whose health the frontend reports. */
const WORKFLOW_SERVICE = "temporal.api.workflowservice.v1.WorkflowService";
const SERVING = 1;

/** On loopback a listener accepts at once. */
const LISTEN_TIMEOUT_MS = 1_000;

/** The conditions under which a server counts as ready. */
export interface ExpectedReadiness {
  readonly address: string;
  readonly namespace: string;
  /** Names of required search attributes. */
  readonly attributes?: readonly string[];
}

/**
 * Checks a server once.
 *
 * @returns What is missing, or undefined if the server is ready.
 */
export async function findReadinessProblem(
  expected: ExpectedReadiness,
  timeoutMs: number,
): Promise<string | undefined> {
  const [host = "", port = ""] = expected.address.split(":");
  if (!(await isListening(host, Number(port)))) return "nothing listens at its address";
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({
      address: expected.address,
      connectTimeout: timeoutMs,
      interceptors: RETRY_UNTIL_CLOSED,
    });
    const open = connection;
    return await open.withDeadline(Date.now() + timeoutMs, async () => {
      const { status } = await open.healthService.check({ service: WORKFLOW_SERVICE });
      if (status !== SERVING) return "it does not serve yet";
      await open.workflowService.describeNamespace({ namespace: expected.namespace });
      if (expected.attributes === undefined) return undefined;
      const { customAttributes } = await open.operatorService.listSearchAttributes({
        namespace: expected.namespace,
      });
      const missing = expected.attributes.filter((name) => customAttributes?.[name] === undefined);
      return missing.length === 0 ? undefined : `search attributes ${missing.join(", ")} do not exist yet`;
    });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await connection?.close();
  }
}

/** Checks whether a port accepts connections. This is cheaper than gRPC, which backs off if nothing listens. */
export function isListening(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: LISTEN_TIMEOUT_MS });
    const settle = (listening: boolean): void => {
      socket.destroy();
      resolve(listening);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
    socket.once("timeout", () => settle(false));
  });
}
