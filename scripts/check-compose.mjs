// Checks a compose file, and the Dockerfiles that it builds, without a container engine: the Compose schema, and the
// project's own rules.
//
//   node scripts/check-compose.mjs [docker-compose.yml]
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SCHEMA = join(root, "test", "fixtures", "compose", "compose-spec.json");

const file = process.argv[2] ?? join(root, "docker-compose.yml");
const problems = findComposeProblems(readFileSync(file, "utf8"));
for (const problem of problems) console.error(`${file}: ${problem}`);
process.exit(problems.length === 0 ? 0 : 1);

function findComposeProblems(text) {
  const compose = parse(text, { merge: true });
  const found = findSchemaProblems(compose);
  const services = Object.entries(compose?.services ?? {});
  if (services.length === 0) found.push("it has no services");
  const oneShots = new Set(
    services.flatMap(([, { depends_on: needs }]) =>
      Object.entries(needs ?? {})
        .filter(([, { condition }]) => condition === "service_completed_successfully")
        .map(([name]) => name),
    ),
  );
  for (const [name, service] of services) {
    for (const port of service.ports ?? []) {
      if (!isLoopback(port)) found.push(`${name} publishes ${JSON.stringify(port)} beyond 127.0.0.1`);
    }
    if (service.network_mode === "host") found.push(`${name} uses the host's network`);
    if (service.build !== undefined) found.push(...findDockerfileProblems(name, service.build));
    else if (!isPinned(service.image)) found.push(`${name} has no pinned image version (${service.image})`);
    const endsByItself = oneShots.has(name) || service.restart === "no";
    if (!endsByItself && !hasHealthCheck(service))
      found.push(`${name} is a long-running service and has no health check`);
    for (const [needed, { condition }] of Object.entries(service.depends_on ?? {})) {
      const other = compose.services[needed];
      if (other === undefined) found.push(`${name} depends on ${needed}, which does not exist`);
      else if (condition === "service_healthy" && !hasHealthCheck(other)) {
        found.push(`${name} waits for the health of ${needed}, which has no health check`);
      }
    }
  }
  return found;
}

function findSchemaProblems(compose) {
  // The schema's own keywords (x-..., deprecated) are not errors; its formats are annotations.
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  const valid = ajv.compile(JSON.parse(readFileSync(SCHEMA, "utf8")));
  if (valid(compose)) return [];
  return valid.errors.map(({ instancePath, message }) => `${instancePath || "/"} ${message}`);
}

/** Checks an image that is built here: its base images are pinned, its user is not root, and it has a health check. */
function findDockerfileProblems(name, build) {
  const { context = ".", dockerfile = "Dockerfile" } = typeof build === "string" ? { context: build } : build;
  const path = join(dirname(file), context, dockerfile);
  if (!existsSync(path)) return [`${name} is built from ${join(context, dockerfile)}, which does not exist`];
  // A backslash at the end of a line continues the line.
  const lines = readFileSync(path, "utf8").replace(/\\\n/g, " ").split("\n");
  const of = (word) =>
    lines.map((line, at) => ({ at, words: line.trim().split(/\s+/) })).filter((one) => one.words[0] === word);
  const stages = of("FROM");
  const names = stages.flatMap(({ words }) => (words[2]?.toUpperCase() === "AS" ? [words[3]] : []));
  const found = stages
    .filter(({ words }) => !isPinned(words[1]) && !names.includes(words[1]))
    .map(({ words }) => `${name} is built on ${words[1]}, which is not a pinned version`);
  const last = stages.at(-1)?.at ?? 0;
  const user = of("USER").findLast(({ at }) => at > last)?.words[1];
  if (user === undefined || /^(root|0)(:|$)/.test(user)) found.push(`${name}'s image runs as root`);
  if (!of("HEALTHCHECK").some(({ at, words }) => at > last && words[1] !== "NONE")) {
    found.push(`${name}'s image has no health check`);
  }
  return found;
}

function isLoopback(port) {
  if (typeof port === "object" && port !== null) return port.host_ip === "127.0.0.1";
  return /^127\.0\.0\.1:\d+:\d+(\/(tcp|udp))?$/.test(String(port));
}

/** Reports whether an image has a version with at least major and minor number, or a digest. */
function isPinned(image) {
  return (
    typeof image === "string" && (/:v?\d+\.\d+[\w.-]*$/.test(image) || /@sha256:[0-9a-f]{64}$/.test(image))
  );
}

function hasHealthCheck({ healthcheck }) {
  return healthcheck !== undefined && healthcheck.disable !== true && healthcheck.test !== undefined;
}
