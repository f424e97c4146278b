import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFinding } from "../findings.mjs";
import { runHoldfast } from "../parts/holdfast-process.mjs";

const KEY = "sk-live-9fKq2LmZ7xV4bT8n";
/** A check that takes longer hangs. */
const LIMIT_MS = 20_000;

const agent = (headers) =>
  `[provider]\nmodel = "m"\napi = "anthropic"\napi_key = "\${KEY}"\n${headers}\n[agent]\nsystem_prompt = "You play."\n`;

/** A file that nothing is wrong with: the others are refused for what they say. */
const GOOD = "good.toml";

/** Agent files of strangers, by file name; each has to be refused in a few words. */
const FILES = {
  [GOOD]: agent(""),
  "deep.json": `${"[".repeat(200_000)}${"]".repeat(200_000)}`,
  "deep.toml": `a = ${"[".repeat(100_000)}${"]".repeat(100_000)}\n`,
  "dollar.toml": agent(`base_url = "${"${".repeat(100_000)}"\n`),
  "keys.json": JSON.stringify(
    Object.fromEntries(Array.from({ length: 300_000 }, (_, nth) => [`k${nth}`, nth])),
  ),
  "authorization.toml": agent(`[provider.headers]\nAuthorization = "Bearer ${KEY}"\n`),
  "api-key.toml": agent(`[provider.headers]\nX-Api-Key = "${KEY}"\n`),
  "line-break.toml": agent(`[provider.headers]\n"X-A\\r\\nX-B" = "1"\n`),
  "value-break.toml": agent(`[provider.headers]\nX-A = "1\\r\\nX-B: 2"\n`),
};

export default {
  name: "hostile-definitions",
  plays:
    "Agent files of strangers are checked and shown: nested a hundred thousand deep, huge, a pipe, a device, keys in headers, line breaks in headers.",
  promise: "Each is refused within seconds, in a sentence; no key in it is printed.",
  isQuick: true,
  play: async (stage) => {
    const folder = stage.subfolder("agents");
    for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder, name), content);
    execFileSync("mkfifo", [join(folder, "pipe.toml")]);
    symlinkSync("/dev/zero", join(folder, "device.toml"));
    const tried = [];
    for (const name of [...Object.keys(FILES), "pipe.toml", "device.toml"])
      for (const command of name.includes("-") ? ["check", "show"] : ["check"]) {
        const startedAtMs = performance.now();
        const ended = await runHoldfast(stage, ["config", command, join(folder, name)], {
          limitMs: LIMIT_MS,
        });
        const { code, signal, stdout, stderr } = ended;
        const said = (stdout + stderr).slice(0, 2_000);
        tried.push({ name, command, code, signal, said, ms: performance.now() - startedAtMs });
      }
    return { tried };
  },
  judge: ({ tried }) =>
    tried.flatMap(({ name, command, code, signal, said, ms }) => {
      const where = `config ${command} ${name}`;
      return [
        ...(signal === null
          ? []
          : [createFinding("stuck", `it hung and was ended after ${Math.round(ms)} ms`, where)]),
        ...(/Maximum call stack|\n {4}at |unexpected:/i.test(said)
          ? [createFinding("broken", `not a refusal but a breakdown: ${said.slice(0, 200)}`, where)]
          : []),
        ...(command === "check" && signal === null && (code === 0) !== (name === GOOD)
          ? [
              createFinding(
                "broken",
                `it was ${code === 0 ? "found to be good" : `refused: ${said.slice(0, 200)}`}`,
                where,
              ),
            ]
          : []),
        ...(said.includes(KEY) ? [createFinding("leaked", "the key in the header was printed", where)] : []),
      ];
    }),
};
