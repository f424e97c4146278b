// Who may import whom. The picture and the reasons are in docs/architecture.md.
//
// A room is a folder of src. It may import the rooms that its row names, which all stand below it, and nothing else of
// ours. `types` may only be seen by the type checker. `packages` are the npm packages it may use: none, all, or these.

const { bundles } = require("./scripts/bundled-packages.json");

/** They use development packages, which the build bundles; the last one loads an optional peer. */
const BUNDLED_MODULES = [...Object.keys(bundles), "models/google-vertex/vertex-credentials"];

const ALL = "^node_modules/";
const TEMPORAL = "^node_modules/@temporalio/";

/** From the bottom up. */
const ROOMS = {
  "platform/text": {},
  platform: { uses: ["platform/text"], packages: ALL, builtins: true },
  schema: { uses: ["platform/text"], packages: "^node_modules/zod/" },
  core: { uses: ["platform/text"], types: ["schema"] },
  conversation: { uses: ["platform/text", "schema", "core"] },
  evaluation: { uses: ["platform/text", "schema", "core"] },
  store: { uses: ["platform", "schema", "core"], packages: ALL, builtins: true, temporal: false },
  models: { uses: ["platform", "schema", "core"], packages: ALL, builtins: true, temporal: false },
  tools: { uses: ["platform", "schema", "core"], packages: ALL, builtins: true, temporal: false },
  hooks: { uses: ["platform", "schema"], types: ["core"], packages: ALL, builtins: true, temporal: false },
  config: { uses: ["platform", "schema", "core"], packages: ALL, builtins: true, temporal: false },
  activities: {
    uses: ["platform", "schema", "core", "conversation", "evaluation", "store", "models", "tools", "hooks"],
    packages: ALL,
    builtins: true,
  },
  workflows: {
    uses: ["platform/text", "core"],
    types: ["schema", "activities"],
    packages: "^node_modules/@temporalio/(workflow|common|workflow-streams)/",
  },
  worker: {
    uses: [
      "platform",
      "schema",
      "core",
      "store",
      "models",
      "tools",
      "hooks",
      "config",
      "activities",
      "workflows",
    ],
    packages: ALL,
    builtins: true,
  },
  client: {
    uses: ["platform", "schema", "core", "conversation", "evaluation", "store", "config", "workflows"],
    packages: ALL,
    builtins: true,
  },
  devserver: { uses: ["platform", "schema"], packages: ALL, builtins: true },
  apps: {
    uses: [
      "platform",
      "schema",
      "core",
      "evaluation",
      "models",
      "tools",
      "config",
      "worker",
      "client",
      "devserver",
    ],
    packages: ALL,
    builtins: true,
  },
  testing: { uses: ["platform", "schema", "devserver"], packages: ALL, builtins: true },
  devkit: {
    uses: [
      "platform",
      "schema",
      "core",
      "conversation",
      "evaluation",
      "store",
      "models",
      "tools",
      "hooks",
      "activities",
      "workflows",
      "testing",
    ],
    packages: ALL,
    builtins: true,
  },
};

/** Folders of one room that do not know each other. */
const NEIGHBOURS = [
  ["store/transcript", "store/stream"],
  ["tools/sources/mcp", "tools/sources/openapi", "tools/sources/skills"],
  ["apps/server", "apps/cli"],
];

/** The worker is a room and, beside it, the program that applications import. */
const pathOf = (room) => (room === "worker" ? "^src/worker(/|\\.ts$)" : `^src/${room}/`);

function rulesOf([room, { uses = [], types = [], packages, builtins = false, temporal = true }]) {
  const from = pathOf(room);
  const runtime = [from, ...uses.map(pathOf), ...(packages === undefined ? [] : [packages])];
  const seen = types.map(pathOf);
  return [
    {
      name: `${room}-imports-what-is-below-it`,
      severity: "error",
      from: { path: from, ...(room === "platform" && { pathNot: pathOf("platform/text") }) },
      to: { pathNot: [...runtime, ...seen], dependencyTypesNot: builtins ? ["core"] : [] },
    },
    ...(seen.length === 0
      ? []
      : [
          {
            name: `${room}-sees-types-only`,
            severity: "error",
            from: { path: from },
            to: { path: seen, pathNot: runtime, dependencyTypesNot: ["type-only"] },
          },
        ]),
    ...(temporal
      ? []
      : [
          {
            name: `${room}-knows-no-temporal`,
            severity: "error",
            from: { path: from },
            to: { path: TEMPORAL },
          },
        ]),
  ];
}

function neighbourRules(group) {
  return group.flatMap((one) =>
    group
      .filter((other) => other !== one && !(one === "apps/cli" && other === "apps/server"))
      .map((other) => ({
        name: `${one}-knows-no-${other}`,
        severity: "error",
        from: { path: pathOf(one) },
        to: { path: pathOf(other) },
      })),
  );
}

module.exports = {
  forbidden: [
    ...Object.entries(ROOMS).flatMap(rulesOf),
    ...NEIGHBOURS.flatMap(neighbourRules),
    {
      name: "the-http-server-uses-the-client",
      severity: "error",
      from: { path: pathOf("apps/server") },
      to: {
        path: "^src/",
        pathNot: ["apps/server", "client", "schema", "core", "platform/text"].map(pathOf),
      },
    },
    {
      // Git work is an application like those of strangers: it has what the package exports, and nothing else of ours.
      name: "git-work-uses-the-public-entry-points",
      severity: "error",
      from: { path: pathOf("apps/git") },
      to: {
        path: "^src/",
        pathNot: [
          pathOf("apps/git"),
          ...["client/index", "schema/index", "worker", "tools/tool"].map((door) => `^src/${door}\\.ts$`),
        ],
      },
    },
    {
      // Each protocol has a folder of several words; what they share has one word, or no folder.
      name: "no-protocol-imports-another",
      severity: "error",
      from: { path: "^src/models/([^/]+-[^/]+)/" },
      to: { path: "^src/models/[a-z]+-[a-z-]+/", pathNot: ["^src/models/$1/", "^src/models/rate-limits/"] },
    },
    {
      name: "one-folder-uses-the-mcp-library",
      severity: "error",
      from: { path: "^src/", pathNot: pathOf("tools/sources/mcp/sdk") },
      to: { path: "^node_modules/@modelcontextprotocol/" },
    },
    {
      name: "one-file-uses-the-terminal-library",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/apps/cli/tui/pi-tui\\.ts$" },
      to: { path: "^node_modules/@mariozechner/" },
    },
    {
      name: "nobody-imports-tests",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|bench|examples|scripts)/" },
    },
    {
      name: "no-development-packages",
      severity: "error",
      // The package does not contain the application for git work yet.
      from: {
        path: "^src/",
        pathNot: [...BUNDLED_MODULES.map((name) => `^src/${name}\\.ts$`), pathOf("apps/git")],
      },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"] },
    },
    { name: "no-unresolvable", severity: "error", from: { path: "^src/" }, to: { couldNotResolve: true } },
    {
      name: "no-cycles",
      severity: "error",
      from: { path: "^src/" },
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      // Here a cycle of types counts as well: what the state is made of does not depend on what changes it.
      name: "no-cycles-in-core",
      severity: "error",
      from: { path: pathOf("core") },
      to: { circular: true },
    },
    {
      name: "every-file-has-a-room",
      severity: "error",
      from: { path: "^src/", pathNot: Object.keys(ROOMS).map(pathOf) },
      to: {},
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "types", "default"],
    },
  },
};
