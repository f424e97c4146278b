import { join } from "node:path";
import { createFinding } from "../findings.mjs";
import { createBashReply, DONE, listFiles, openAgents, VENDOR_KEY, waitForEnd } from "../parts/agents.mjs";
import { findSecrets } from "../parts/encoded-secrets.mjs";
import { runHoldfast } from "../parts/holdfast-process.mjs";

/** In the worker's environment; none of them is any business of a model. */
const SECRETS = {
  PGPASSWORD: "pg-4Kq8vZ2mXw7Ld1Rt9Hs3",
  AWS_SECRET_ACCESS_KEY: "aws-uY6pN3cJ8gF5bV2kQ7eW",
  GITHUB_TOKEN: "ghp-M9rT4zX1dB6hL8nC3vG5",
  APP_DATABASE_PASSWORD: "app-W2fS7jP5tK9yD4aE8qU1",
  [VENDOR_KEY.name]: VENDOR_KEY.value,
};

const ENVIRONMENTS = "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'";
/** What a model may try, plainly and disguised. */
const COMMANDS = [
  "env",
  "cat /proc/$PPID/environ | tr '\\0' '\\n'",
  `${ENVIRONMENTS} | grep -a -E 'PGPASSWORD|AWS_|GITHUB|APP_DATABASE|CHAOS_VENDOR'`,
  `${ENVIRONMENTS} | grep -a -E 'PGPASSWORD|AWS_|GITHUB|APP_DATABASE|CHAOS_VENDOR' | base64 -w 0`,
  `${ENVIRONMENTS} | grep -a -E 'PGPASSWORD|AWS_|GITHUB|APP_DATABASE|CHAOS_VENDOR' | od -An -v -tx1 | tr -d ' \\n'`,
  `${ENVIRONMENTS} | grep -a -E 'PGPASSWORD|AWS_|GITHUB|APP_DATABASE|CHAOS_VENDOR' | rev`,
];

export default {
  name: "secrets",
  plays:
    "Secrets stand in the worker's environment; the model reads every environment that it can, plainly, in base64, in hex and backwards, and the vendor repeats the key in an error.",
  promise:
    "None of them is in any byte that leaves the worker: requests, Temporal's history and database, transcript, live output, logs, what commands print.",
  isQuick: true,
  play: async (stage) => {
    const agents = await openAgents(stage, { env: { ...SECRETS, HOLDFAST_LOG: "debug" } });
    const reader = await agents.start("secrets-reader", {
      replies: [...COMMANDS.map(createBashReply), DONE],
    });
    const message = `invalid x-api-key: ${VENDOR_KEY.value} (${Buffer.from(VENDOR_KEY.value).toString("base64")})`;
    const body = JSON.stringify({ type: "error", error: { type: "authentication_error", message } });
    const echo = await agents.start("secrets-echo", { replies: [{ fault: "http", status: 401, body }] });
    await Promise.all([waitForEnd(reader, 60_000), waitForEnd(echo, 60_000)]);
    const printed = [];
    for (const session of [reader.id, echo.id])
      for (const command of ["show", "status", "export"]) {
        const { stdout, stderr } = await runHoldfast(stage, [...agents.common, command, session]);
        printed.push({ place: `holdfast ${command} ${session}`, bytes: Buffer.from(stdout + stderr) });
      }
    await agents.worker.end();
    const campaign = await stage.campaign();
    const places = [
      ...printed,
      {
        place: "what the worker has printed",
        bytes: Buffer.from(Object.values(agents.worker.said).join("")),
      },
      ...agents.vendor.requests.map(({ conversation, number, body: asked }) => ({
        place: `request ${number} of ${conversation}`,
        bytes: Buffer.from(JSON.stringify(asked)),
      })),
      ...(await Promise.all([reader, echo].map((session) => readHistory(campaign, session)))),
      ...[agents.home, join(campaign.folder, "server")].flatMap((folder) =>
        listFiles(folder).map(({ path, bytes }) => ({ place: path, bytes })),
      ),
    ];
    const looked = places.reduce((sum, { bytes }) => sum + bytes.length, 0);
    return { looked, requests: agents.vendor.requests.length, found: findSecrets(places, SECRETS) };
  },
  judge: ({ looked, requests, found }) => [
    ...[...new Set(found.map(({ place, name }) => `${place}\n${name}`))].map((both) => {
      const [place, name] = both.split("\n");
      const forms = found.filter((one) => one.place === place && one.name === name).map(({ form }) => form);
      return createFinding("leaked", `${name}, ${forms.join(", ")}`, place);
    }),
    ...(requests > COMMANDS.length && looked > 0
      ? []
      : [createFinding("broken", `only ${requests} requests were made: nothing was played`)]),
  ],
};

async function readHistory({ client }, session) {
  const history = await client.workflow.getHandle(session.id).fetchHistory();
  const payloads = [];
  const bytes = JSON.stringify(history, (_, value) => {
    if (!(value instanceof Uint8Array)) return value;
    payloads.push(Buffer.from(value));
    return undefined;
  });
  return { place: `the history of ${session.id}`, bytes: Buffer.concat([Buffer.from(bytes), ...payloads]) };
}
