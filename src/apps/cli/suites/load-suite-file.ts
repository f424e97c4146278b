import { type LoadedSuite, readSuite } from "../../../client/index.ts";
import { validateDefinition } from "../../../client/runs/pin-definition.ts";
import { AGENT_FILE_CHECKS } from "../agent-file.ts";
import type { Context } from "../context.ts";
import { formatProblem } from "../problem-view.ts";
import { applySandboxFlag, type SandboxFlag } from "../sandbox-flag.ts";
import { readTrust, type UntrustedFlag } from "../untrusted-flag.ts";
import { SuiteFileError } from "./suite-file-error.ts";

/** Reads a suite file and its agent files, prints their warnings, and applies the flags to its agents. */
export async function loadSuiteFile(
  context: Context,
  file: string,
  flags: SandboxFlag & UntrustedFlag,
): Promise<LoadedSuite> {
  const { suite, problems } = await readSuite(file, { ...readTrust(context, flags), ...AGENT_FILE_CHECKS });
  if (suite === undefined) throw new SuiteFileError(file, problems);
  for (const problem of problems) context.report(formatProblem(problem, context.err).join("\n"));
  if (flags.sandbox === undefined) return suite;
  return {
    ...suite,
    configurations: suite.configurations.map((configuration) => ({
      ...configuration,
      definition: validateDefinition(applySandboxFlag(configuration.definition, flags)),
    })),
  };
}
