import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { SEARCH_ATTRIBUTES } from "../src/schema/search-attributes.ts";
import { thoroughTest } from "./support/test-depth.ts";

const ROOT = resolve(import.meta.dirname, "..");
const COMPOSE = readFileSync(join(ROOT, "docker-compose.yml"), "utf8");
const DOCKERFILE = readFileSync(join(ROOT, "Dockerfile"), "utf8");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-compose-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function check(
  text: string,
  dockerfile = DOCKERFILE,
): { readonly status: number | null; readonly said: string } {
  const file = join(folder, "docker-compose.yml");
  writeFileSync(file, text);
  writeFileSync(join(folder, "Dockerfile"), dockerfile);
  const script = join(ROOT, "scripts", "check-compose.mjs");
  const { status, stderr } = spawnSync(process.execPath, [script, file], { encoding: "utf8" });
  return { status, said: stderr };
}

test("the compose file is valid under the Compose schema and keeps our promises", () => {
  expect(check(COMPOSE)).toEqual({ status: 0, said: "" });
});

thoroughTest.each([
  ["a misspelt key", "healthcheck:", "healthchek:", /must NOT have additional properties|unevaluated/],
  [
    "a port open to the world",
    '"127.0.0.1:7233:7233"',
    '"7233:7233"',
    /temporal publishes "7233:7233" beyond/,
  ],
  ["a floating image", "temporalio/ui:2.54.1", "temporalio/ui:latest", /temporal-ui has no pinned image/],
  ["a major version alone", /postgres:[\w.-]+/, "postgres:16", /postgresql has no pinned image/],
  [
    "a dependency that is not there",
    "postgresql:\n        condition",
    "postgre:\n        condition",
    /which does not exist/,
  ],
] as const)("%s is caught", (_name, from, to, said) => {
  const text = COMPOSE.replace(from, to);
  expect(text).not.toBe(COMPOSE);
  const result = check(text);
  expect(result.status).toBe(1);
  expect(result.said).toMatch(said);
});

test("the worker receives the keys and the setting for message content if they are set, and no empty text if they are not", () => {
  const worker = parse(COMPOSE, { merge: true }).services.worker as { environment: Record<string, unknown> };
  for (const name of ["HOLDFAST_ENCRYPTION_KEYS", "HOLDFAST_REDACT_CONTENT"]) {
    expect(worker.environment[name]).toBeNull();
  }
});

thoroughTest("a long-running service without a health check is caught", () => {
  const without = COMPOSE.replace(
    / {4}healthcheck:\n {6}test: \["CMD", "wget"[\s\S]*?start_period: 10s\n/,
    "",
  );
  expect(without).not.toBe(COMPOSE);
  expect(check(without).said).toMatch(/temporal-ui is a long-running service and has no health check/);
});

thoroughTest.each([
  [
    "a floating base",
    /FROM node:\S+ AS build/,
    "FROM node:22 AS build",
    /built on node:22, which is not a pinned/,
  ],
  ["root", "USER node\n", "", /worker's image runs as root/],
  ["root by its number", "USER node\n", "USER 0\n", /worker's image runs as root/],
  ["no health check", /HEALTHCHECK.*\n/, "", /worker's image has no health check/],
] as const)("a Dockerfile with %s is caught", (_name, from, to, said) => {
  const text = DOCKERFILE.replace(from, to);
  expect(text).not.toBe(DOCKERFILE);
  const result = check(COMPOSE, text);
  expect(result.status).toBe(1);
  expect(result.said).toMatch(said);
});

test("the worker connects with its own role and database, without a password in an address", () => {
  const { services } = parse(COMPOSE, { merge: true }) as {
    services: Record<string, { command?: readonly string[]; environment?: Record<string, string> }>;
  };
  const url = new URL(services["worker"]?.environment?.["HOLDFAST_DATABASE_URL"] ?? "");
  const script = services["holdfast-database"]?.command?.join("\n") ?? "";
  expect(script).toContain(`CREATE DATABASE ${url.pathname.slice(1)} OWNER ${url.username}`);
  expect([url.hostname, url.password]).toEqual(["postgresql", ""]);
});

test("it registers the search attributes that runs write", () => {
  const { services } = parse(COMPOSE, { merge: true }) as {
    services: Record<string, { command?: readonly string[] }>;
  };
  const script = services["temporal-namespace"]?.command?.join("\n").replaceAll("\\\n", " ") ?? "";
  const registered: Record<string, string> = {};
  for (const [, type = "", names = ""] of script.matchAll(/search-attribute create --type (\w+)(.*)/g)) {
    for (const [, name = ""] of names.matchAll(/--name (\w+)/g)) registered[name] = type;
  }
  expect(registered).toEqual(SEARCH_ATTRIBUTES);
});
