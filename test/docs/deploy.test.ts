import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { SEARCH_ATTRIBUTES } from "../../src/schema/search-attributes.ts";
import { SqliteFixture } from "../transcript/sqlite-fixture.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PAGES = new Map(
  readdirSync(join(ROOT, "docs/deploy")).map((name) => [
    name,
    readFileSync(join(ROOT, "docs/deploy", name), "utf8"),
  ]),
);
const temporary = SqliteFixture.forEachTest();

function listBlocks(language: string): readonly (readonly [page: string, text: string])[] {
  return [...PAGES].flatMap(([page, text]) =>
    [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(
      ([, block = ""]) => [page, block] as const,
    ),
  );
}

function readSources(folder: string, suffix: string): string {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(suffix))
    .map((name) => readFileSync(join(ROOT, folder, name), "utf8"))
    .join("\n");
}

test("there is a page for each way of deploying", () => {
  expect([...PAGES.keys()].sort()).toEqual([
    "README.md",
    "compose.md",
    "kubernetes.md",
    "one-machine.md",
    "temporal-cloud.md",
  ]);
});

test("every variable that the pages name is read by Holdfast, its compose file or Temporal's SDK", () => {
  const known = [
    readSources("src", ".ts"),
    readSources("node_modules/@temporalio/envconfig/lib", ".js"),
    readFileSync(join(ROOT, "docker-compose.yml"), "utf8"),
  ].join("\n");
  const named = new Set(
    [...PAGES.values()].flatMap((text) => text.match(/\b(?:HOLDFAST|TEMPORAL|PG)_?[A-Z_]{3,}\b/g) ?? []),
  );
  expect(named.size).toBeGreaterThan(20);
  expect([...named].filter((name) => !new RegExp(`\\b${name}\\b`).test(known))).toEqual([]);
});

test("the YAML is valid, and workers in it have more time to end than they need", () => {
  const documents = listBlocks("yaml").flatMap(([page, text]) =>
    parseAllDocuments(text).map((document) => {
      expect([page, document.errors]).toEqual([page, []]);
      return document.toJS({ maxAliasCount: 10 });
    }),
  );
  const kinds = documents.flatMap(({ kind }) => kind ?? []);
  expect(kinds).toEqual([
    "ConfigMap",
    "Secret",
    "Deployment",
    "PersistentVolumeClaim",
    "PodDisruptionBudget",
  ]);
  const of = (kind: string) => documents.find((one) => one.kind === kind);
  const { metadata, spec } = of("Deployment").spec.template;
  expect(of("Deployment").spec.selector.matchLabels).toEqual(metadata.labels);
  expect(of("PodDisruptionBudget").spec.selector.matchLabels).toEqual(metadata.labels);
  const drainSeconds = Number(of("ConfigMap").data.HOLDFAST_DRAIN_SECONDS);
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drainSeconds + 10);
  expect(spec.initContainers[0].envFrom).toEqual(spec.containers[0].envFrom);
  expect(spec.volumes[0].persistentVolumeClaim.claimName).toBe(of("PersistentVolumeClaim").metadata.name);
  expect(spec.containers[0].volumeMounts[0].name).toBe(spec.volumes[0].name);
});

test("Temporal's SDK reads the settings for Temporal Cloud as the page has them", () => {
  const shells = listBlocks("sh").filter(
    ([page, text]) => page === "temporal-cloud.md" && /export/.test(text),
  );
  const [withKey = {}, withCertificate = {}] = shells.map(([, text]) =>
    Object.fromEntries([...text.matchAll(/^export (\w+)=(\S+)/gm)].map(([, name, value]) => [name, value])),
  );
  const load = (env: Record<string, string>) =>
    loadClientConnectConfig({ disableFile: true, overrideEnvVars: env });
  const address = "agents.a1b2c.tmprl.cloud:7233";
  expect(load(withKey)).toMatchObject({
    namespace: "agents.a1b2c",
    connectionOptions: { address, apiKey: "...", tls: true },
  });
  const readable = writeCertificates();
  expect(load({ ...withCertificate, ...readable })).toMatchObject({
    namespace: "agents.a1b2c",
    connectionOptions: {
      address,
      tls: { clientCertPair: { crt: Uint8Array.of(99), key: Uint8Array.of(107) } },
    },
  });
  expect(Object.keys(withCertificate)).toEqual(expect.arrayContaining(Object.keys(readable)));

  const [[, toml = ""] = []] = listBlocks("toml");
  const path = join(temporary.folder, "temporal.toml");
  const { TEMPORAL_TLS_CLIENT_CERT_PATH: cert = "", TEMPORAL_TLS_CLIENT_KEY_PATH: key = "" } = readable;
  writeFileSync(
    path,
    toml.replace("/etc/temporal/client.pem", cert).replace("/etc/temporal/client.key", key),
  );
  const profile = loadClientConnectConfig({
    profile: "production",
    configSource: { path },
    overrideEnvVars: {},
  });
  expect(profile).toMatchObject({ namespace: "agents.a1b2c", connectionOptions: { address } });
});

test("the command for Temporal Cloud registers the attributes that runs write", () => {
  const page = PAGES.get("temporal-cloud.md") ?? "";
  const named = [...page.matchAll(/--search-attribute (\w+)=(\w+)/g)].map(([, name, type]) => [name, type]);
  expect(Object.fromEntries(named)).toEqual(SEARCH_ATTRIBUTES);
});

function writeCertificates(): Record<string, string> {
  const [cert, key] = [join(temporary.folder, "client.pem"), join(temporary.folder, "client.key")];
  writeFileSync(cert, "c");
  writeFileSync(key, "k");
  return { TEMPORAL_TLS_CLIENT_CERT_PATH: cert, TEMPORAL_TLS_CLIENT_KEY_PATH: key };
}
