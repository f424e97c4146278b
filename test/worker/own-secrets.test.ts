import { expect, test } from "vitest";
import { listOwnSecrets } from "../../src/worker/own-secrets.ts";

const list = (env: NodeJS.ProcessEnv) =>
  listOwnSecrets({ env, keys: undefined, database: undefined, connection: {} });

test("a variable that the process sets, changes or removes later counts from then on", () => {
  const env: NodeJS.ProcessEnv = { GITHUB_TOKEN: "first-token-91" };
  const getSecrets = list(env);
  expect(getSecrets()).toEqual(["first-token-91"]);
  env["GITHUB_TOKEN"] = "second-token-92";
  env["DB_PASSWORD"] = "third-word-93";
  expect(getSecrets()).toEqual(["second-token-92", "third-word-93"]);
  delete env["GITHUB_TOKEN"];
  expect(getSecrets()).toEqual(["third-word-93"]);
});

test("variables that have not changed are not examined again", () => {
  const getSecrets = list({ GITHUB_TOKEN: "first-token-91" });
  expect(getSecrets()).toBe(getSecrets());
});
