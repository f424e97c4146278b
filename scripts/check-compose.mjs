// Checks a compose file without a container engine: the Compose schema, and what we promise beyond it.
//
//   node scripts/check-compose.mjs [docker-compose.yml]
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SCHEMA = join(root, "test", "fixtures", "compose", "compose-spec.json");

const file = process.argv[2] ?? join(root, "docker-compose.yml");
const problems = composeProblems(readFileSync(file, "utf8"));
for (const problem of problems) console.error(`${file}: ${problem}`);
process.exit(problems.length === 0 ? 0 : 1);

function composeProblems(text) {
  const compose = parse(text, { merge: true });
  const found = schemaProblems(compose);
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
    if (!isPinned(service.image)) found.push(`${name} has no pinned image version (${service.image})`);
    const endsByItself = oneShots.has(name) || service.restart === "no";
    if (!endsByItself && !hasHealthCheck(service)) found.push(`${name} runs on and has no health check`);
    for (const [needed, { condition }] of Object.entries(service.depends_on ?? {})) {
      const other = compose.services[needed];
      if (other === undefined) found.push(`${name} depends on ${needed}, which is not there`);
      else if (condition === "service_healthy" && !hasHealthCheck(other)) {
        found.push(`${name} waits for the health of ${needed}, which has no health check`);
      }
    }
  }
  return found;
}

function schemaProblems(compose) {
  // The schema's own keywords (x-..., deprecated) are not errors; its formats are annotations.
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  const valid = ajv.compile(JSON.parse(readFileSync(SCHEMA, "utf8")));
  if (valid(compose)) return [];
  return valid.errors.map(({ instancePath, message }) => `${instancePath || "/"} ${message}`);
}

function isLoopback(port) {
  if (typeof port === "object" && port !== null) return port.host_ip === "127.0.0.1";
  return /^127\.0\.0\.1:\d+:\d+(\/(tcp|udp))?$/.test(String(port));
}

/** A version of at least major and minor number, or a digest. */
function isPinned(image) {
  return (
    typeof image === "string" && (/:v?\d+\.\d+[\w.-]*$/.test(image) || /@sha256:[0-9a-f]{64}$/.test(image))
  );
}

function hasHealthCheck({ healthcheck }) {
  return healthcheck !== undefined && healthcheck.disable !== true && healthcheck.test !== undefined;
}
