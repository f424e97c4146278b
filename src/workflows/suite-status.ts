import { formatSuiteDashboard, type SuiteProgress } from "../core/suite/suite-dashboard.ts";
import { createPublisher } from "./status-publisher.ts";

/** Keeps the Temporal UI up to date on a suite. */
export function createSuitePublisher(searchAttributes: boolean): (progress: SuiteProgress) => void {
  return createPublisher<SuiteProgress>(searchAttributes, {
    details: formatSuiteDashboard,
    status: ({ run, state, finished, spentUsd }) => ({
      session: run,
      status: state,
      agent: undefined,
      model: undefined,
      turns: finished,
      costUsd: spentUsd,
    }),
  });
}
