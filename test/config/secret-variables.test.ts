import { expect, test } from "vitest";
import { findSecretVariables, isSecretName } from "../../src/config/secret-variables.ts";

const names = (env: Record<string, string>) => findSecretVariables(env).map(({ name }) => name);
const secretsIn = (env: Record<string, string>) => findSecretVariables(env).flatMap(({ secrets }) => secrets);

test.each([
  "ANTHROPIC_API_KEY",
  "GITHUB_TOKEN",
  "GITHUBTOKEN",
  "PGPASSWORD",
  "MYSQL_PWD",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "TEMPORAL_API_KEY",
  "TEMPORAL_TLS_CLIENT_KEY_DATA",
  "AZURE_CLIENT_SECRET",
  "DB_PASS",
  "REDIS_AUTH",
  "npm_config__authToken",
  "apiKey",
  "VAULT_SECRET_ID",
])("%s names a secret", (name) => {
  expect(isSecretName(name)).toBe(true);
});

test.each([
  "PATH",
  "PWD",
  "OLDPWD",
  "SSH_AUTH_SOCK",
  "GOOGLE_APPLICATION_CREDENTIALS_FILE",
  "TOKEN_URL",
  "AWS_ACCESS_KEY_ID",
  "SSH_PUBLIC_KEY",
  "KEYBOARD",
  "MONKEY",
  "HOLDFAST_ENCRYPTION_KEYS",
])("%s does not name a secret", (name) => {
  expect(isSecretName(name)).toBe(false);
});

test("numbers of tokens, switches, existing files and folders are not secrets", () => {
  expect(
    names({
      MAX_TOKENS: "100000",
      TOKEN_CHECK: "disabled",
      TLS_KEY: import.meta.filename,
      APP_SECRET: "./secret.txt",
      HOME: "/home/somebody",
      DB_PASSWORD: "123456",
    }),
  ).toEqual(["DB_PASSWORD"]);
});

test("the variable that a reference of the key ring names holds a key, whatever its name", () => {
  const key = Buffer.alloc(32, 7);
  expect(
    secretsIn({
      HOLDFAST_ENCRYPTION_KEYS: "plain,a=env:ROOT_OF_ALL, b=file:/x",
      ROOT_OF_ALL: key.toString("base64"),
    }),
  ).toEqual([key.toString("base64"), key.toString("hex"), key.toString("base64url")]);
});

test("the password of an address is a secret, both encoded and decoded; the address is not", () => {
  expect(secretsIn({ HOLDFAST_DATABASE_URL: "postgresql://app:p%40ss-w0rd@db:5432/app" })).toEqual([
    "p%40ss-w0rd",
    "p@ss-w0rd",
  ]);
});

test("a value that looks like a key is one under any name", () => {
  expect(secretsIn({ SETUP: "deploy --token=ghp_0123456789abcdefghij0123" }).join(" ")).toContain(
    "ghp_0123456789abcdefghij0123",
  );
});
