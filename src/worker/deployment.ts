import type { WorkerOptions } from "@temporalio/worker";
import type { Versioning } from "../config/worker-environment.ts";

const DEFAULT_DEPLOYMENT = "holdfast";

const BEHAVIOR = { pinned: "PINNED", "auto-upgrade": "AUTO_UPGRADE" } as const;

/** Builds the version options of Temporal's worker. A worker without a version takes everything on its task queue. */
export function buildDeploymentOptions(
  versioning: Versioning | undefined,
): Pick<WorkerOptions, "workerDeploymentOptions"> {
  if (versioning === undefined) return {};
  const { buildId, deployment = DEFAULT_DEPLOYMENT, behavior = "auto-upgrade" } = versioning;
  return {
    workerDeploymentOptions: {
      version: { deploymentName: deployment, buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: BEHAVIOR[behavior],
    },
  };
}
