// Writes docs/errors.md: every error code of the client, every problem of `holdfast serve` and every exit code, with its cause
// and what to do, from the data beside the codes. Needs a build.
//
//   node scripts/errors.mjs            writes the page
//   node scripts/errors.mjs --check    fails when the page is not what the data say
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const importBuilt = (...path) => import(join(root, "dist", ...path));
const { ERROR_GUIDE } = await importBuilt("client", "error-guide.js");
const { PROBLEM_GUIDE } = await importBuilt("apps", "server", "problem-guide.js");
const { PROBLEM_STATUSES } = await importBuilt("apps", "server", "problem.js");
const { ERROR_EXIT_CODES, EXIT_GUIDE, OUTCOME_EXIT_CODES } = await importBuilt(
  "apps",
  "cli",
  "exit-codes.js",
);

const file = join(root, "docs", "errors.md");
const text = formatPage();
if (!values.check) {
  writeFileSync(file, text);
} else if (!existsSync(file) || readFileSync(file, "utf8") !== text) {
  console.error(
    "docs/errors.md is not what the sources say. What to do: npm run errors, and commit the file.",
  );
  process.exitCode = 1;
}

function formatPage() {
  return `# Errors

<!-- npm run errors writes this page from the sources. -->

Every error of the client is a \`HoldfastError\`. Its \`message\` is for people, and says what was tried and what to do; a program
reads \`code\` and \`facts\`. The command line prints the message, and with \`--json\` also the code and the facts. The HTTP server
answers with a problem (RFC 9457) whose \`code\` is one of these. A test provokes each of them.

\`\`\`ts
import { HoldfastError } from "holdfast";

try {
  await session.prompt("Continue with the second file");
} catch (error) {
  if (!(error instanceof HoldfastError) || error.code !== "session-busy") throw error;
  await session.steer("Continue with the second file");
}
\`\`\`

An agent that fails is not an exception of your program until you ask for its result: \`run-failed\` then has the outcome.

## Codes of the client

${Object.entries(ERROR_GUIDE).map(formatClientCode).join("\n")}
## Problems of the HTTP server

\`holdfast serve\` answers with the codes above, and with these.

${Object.entries(PROBLEM_GUIDE).map(formatProblem).join("\n")}
## Exit codes

| exit code | meaning | what to do | outcomes of a run |
| --- | --- | --- | --- |
${EXIT_GUIDE.map(formatExit).join("\n")}
`;
}

function formatClientCode([code, { cause, remedy }]) {
  return `### ${code}

${cause}

**What to do:** ${remedy}

Exit code ${ERROR_EXIT_CODES[code]}, HTTP status ${PROBLEM_STATUSES[code]}.
`;
}

function formatProblem([code, { cause, remedy }]) {
  return `### ${code}

${cause}

**What to do:** ${remedy}

HTTP status ${PROBLEM_STATUSES[code]}.
`;
}

function formatExit({ code, meaning, remedy }) {
  const outcomes = Object.entries(OUTCOME_EXIT_CODES).filter(([, exit]) => exit === code);
  return `| ${code} | ${meaning} | ${remedy} | ${outcomes.map(([type]) => `\`${type}\``).join(", ")} |`;
}
