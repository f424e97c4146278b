// A client of ours as the official conformance runner starts it: the scenario's name is in the environment, the
// server's address is the last argument. Run by the runner, or by hand:
//
//   MCP_CONFORMANCE_SCENARIO=initialize node test/mcp/conformance/client.mjs http://localhost:3000/mcp
//
// What is built is what runs.
import { openHttp } from "../../../dist/tools/sources/mcp/sdk/open-connection.js";

const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const given = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const address = new URL(process.argv.at(-1) ?? "");

/** The address under which the runner's authorization servers know this client's published description. */
const CLIENT_ADDRESS = "https://conformance-test.local/client-metadata.json";

const request = { signal: AbortSignal.timeout(25_000) };

const events = {
  onListChanged: () => {},
  onClosed: () => {},
  onLogMessage: () => {},
  onProtocolError: (what) => console.error(`odd: ${what}`),
  // Accepts everything and leaves each field at its default.
  elicit: async () => ({ type: "accept", values: {} }),
  sample: async () => {
    throw new Error("no model here");
  },
};

/** The runner's authorization servers redirect every browser back at once. */
async function visit(page) {
  const response = await fetch(page, { redirect: "manual" });
  return new URL(response.headers.get("location") ?? "", page);
}

function signIn() {
  const { client_id: id, client_secret: secret, issuer } = given;
  const client =
    id === undefined || issuer === undefined
      ? {}
      : { client: { id, issuer, ...(secret === undefined ? {} : { secret }) } };
  return {
    redirectUrl: "http://127.0.0.1:19876/callback",
    openPage: visit,
    ...client,
    ...(scenario === "auth/basic-cimd" ? { clientMetadataUrl: CLIENT_ADDRESS } : {}),
  };
}

/** Returns the token issuer, which a server's operator would tell the author of a definition. */
async function getIssuer(server) {
  const page = new URL(`/.well-known/oauth-protected-resource${server.pathname}`, server);
  const { authorization_servers: issuers } = await (await fetch(page)).json();
  return issuers[0];
}

async function connect() {
  const options = { version: "0", sampling: false, elicitation: true, events };
  if (scenario === "auth/client-credentials-basic") {
    const { client_id: clientId = "", client_secret: secret = "" } = given;
    const issuer = await getIssuer(address);
    const auth = { type: "oauth", clientId, clientSecret: "${SECRET}", clientAuth: "basic", issuer };
    return openHttp({ url: address, headers: {}, auth, secrets: () => secret }, options, request);
  }
  const person = scenario.startsWith("auth/") ? { signIn: signIn() } : {};
  return openHttp({ url: address, headers: {}, secrets: () => undefined, ...person }, options, request);
}

/** Arguments of the right types, with arbitrary values. */
function createArguments(schema) {
  const { properties = {}, required = [] } = schema;
  const values = { number: 2, integer: 2, boolean: true, object: {}, array: [] };
  return Object.fromEntries(required.map((name) => [name, values[properties[name]?.type ?? ""] ?? "text"]));
}

const connection = await connect();
try {
  const tools = await connection.listTools(request);
  if (scenario === "json-schema-2020-12-preservation") {
    const rich = tools.find(({ name }) => !/echo/.test(name));
    const echo = tools.find(({ name }) => /echo/.test(name));
    await connection.callTool(echo?.name ?? "", { schema: rich?.inputSchema ?? {} }, request);
  } else {
    for (const { name, inputSchema } of tools) {
      await connection.callTool(name, createArguments(inputSchema), request);
    }
  }
} finally {
  await connection.close();
}
