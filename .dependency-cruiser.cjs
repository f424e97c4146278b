// Who may import whom: one rule per room. The table and its reasons are in docs/architecture.md.
//
// "runtime" edges may run; "types" edges may only be seen by the type checker. Everything of ours that a room does not
// name is forbidden to it.

const PACKAGES = "^node_modules/";
const TEMPORAL = "^node_modules/@temporalio/";
/** The composition root, and what it is told. */
const WORKER = "^src/worker(/|\\.ts$)";
/** Says where tests may end a worker; imports nothing. */
const KILL_POINT = "^src/kill-point\\.ts$";
const ADAPTERS = ["transcript", "stream", "providers", "tools", "mcp", "openapi", "skills", "observability"];

/** What a source of tools is, how a folder is not left, and which tool a name from elsewhere means. */
const SKILLS_USE = [
  "^src/tools/outside/source\\.ts$",
  "^src/tools/workspace/(confine|system-error)\\.ts$",
  "^src/tools/aliases\\.ts$",
];

/** Those that keep what was said: in the shared database, if they are told so, and sealed, if they must be. */
const KEEPERS = ["transcript", "stream"];
/** Those that tools come from which no worker has itself. */
const SOURCES = ["mcp", "openapi", "skills"];
/** Keys and what they seal, without what Temporal's payloads need. */
const KEYS = "^src/codec/(encryption|key-error|key-references|key-ring)\\.ts$";

const room = (name) => `^src/${name}/`;
const rooms = (...names) => names.map(room);

/** Two rules for a room: nothing beyond what is named, and types only where it says so. */
function only(name, from, { runtime = [], types = [], allowBuiltins = false }) {
  const allowed = [from, ...runtime, ...types];
  return [
    {
      name,
      severity: "error",
      from: { path: from },
      to: { pathNot: allowed, dependencyTypesNot: allowBuiltins ? ["core"] : [] },
    },
    ...(types.length === 0
      ? []
      : [
          {
            name: `${name}-types-only`,
            severity: "error",
            from: { path: from },
            to: { path: types, pathNot: [from, ...runtime], dependencyTypesNot: ["type-only"] },
          },
        ]),
  ];
}

/** Temporal belongs to the rooms that join it. */
function withoutTemporal(name, from) {
  return { name, severity: "error", from: { path: from }, to: { path: TEMPORAL } };
}

module.exports = {
  forbidden: [
    ...only("schema-imports-zod-alone", room("schema"), {
      // To say which name was probably meant, and to refuse what looks like a key; those files import nothing.
      runtime: ["^node_modules/zod/", "^src/core/(nearest-name|secret-shapes)\\.ts$"],
    }),
    ...only("core-is-pure", room("core"), { types: rooms("schema") }),
    ...only("workflows-run-core", room("workflows"), {
      runtime: [room("core"), "^node_modules/@temporalio/(workflow|common|workflow-streams)/"],
      types: rooms("schema", "activities"),
    }),
    ...ADAPTERS.flatMap((name) => [
      ...only(`${name}-is-an-adapter`, room(name), {
        runtime: [
          ...rooms("schema", "core"),
          ...(KEEPERS.includes(name) ? [room("postgres"), KEYS] : []),
          ...(SOURCES.includes(name) ? ["^src/tools/(outside|process)/"] : []),
          "^src/tools/tool\\.ts$",
          ...(name === "skills" ? SKILLS_USE : []),
          KILL_POINT,
          PACKAGES,
        ],
        allowBuiltins: true,
      }),
      withoutTemporal(`${name}-knows-no-temporal`, room(name)),
    ]),
    {
      // Each protocol's folder has its name, of several words; what several share has one word, or no folder, but for
      // what vendors say of their limits.
      name: "no-protocol-imports-another",
      severity: "error",
      from: { path: "^src/providers/([^/]+)/" },
      to: {
        path: "^src/providers/[a-z]+-[a-z-]+/",
        pathNot: ["^src/providers/$1/", "^src/providers/rate-limits/"],
      },
    },
    {
      name: "one-folder-speaks-to-the-mcp-library",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/mcp/sdk/" },
      to: { path: "^node_modules/@modelcontextprotocol/" },
    },
    ...only("postgres-stands-below-its-adapters", room("postgres"), {
      runtime: [PACKAGES],
      allowBuiltins: true,
    }),
    withoutTemporal("postgres-knows-no-temporal", room("postgres")),
    ...only("codec-seals", room("codec"), { runtime: [PACKAGES], allowBuiltins: true }),
    ...only("config-is-an-adapter", room("config"), {
      runtime: [...rooms("schema", "core"), "^src/tools/tool\\.ts$", PACKAGES],
      allowBuiltins: true,
    }),
    withoutTemporal("config-knows-no-temporal", room("config")),
    ...only("hooks-ask-what-an-application-adds", room("hooks"), {
      // A command as a hook is run as a tool runs one: supervised, and without the worker's keys.
      runtime: [...rooms("schema", "observability"), "^src/tools/process/", PACKAGES],
      types: rooms("core"),
      allowBuiltins: true,
    }),
    withoutTemporal("hooks-know-no-temporal", room("hooks")),
    ...only("activities-join-adapters", room("activities"), {
      runtime: [...rooms("schema", "core", "hooks", ...ADAPTERS), KILL_POINT, PACKAGES],
      allowBuiltins: true,
    }),
    ...only("client-reads-and-signals", room("client"), {
      runtime: [
        ...rooms("schema", "core", "transcript", "stream", "config", "codec"),
        "^src/workflows/messages\\.ts$",
        // A fork may bring files back that a worker has kept.
        "^src/tools/git/",
        PACKAGES,
      ],
      types: rooms("workflows"),
      allowBuiltins: true,
    }),
    ...only("server-uses-client", room("server"), {
      runtime: [...rooms("client", "schema", "core"), PACKAGES],
      allowBuiltins: true,
    }),
    withoutTemporal("server-knows-no-temporal", room("server")),
    ...only("devserver-stands-alone", room("devserver"), {
      runtime: [...rooms("schema", "core"), PACKAGES],
      allowBuiltins: true,
    }),
    ...only("cli-uses-client", room("cli"), {
      runtime: [
        ...rooms("client", "config", "schema", "core", "observability", "devserver", "codec", "server"),
        // What can be looked at without a server: what an agent would have of an API.
        "^src/openapi/inspect\\.ts$",
        "^src/tools/outside/source\\.ts$",
        // `holdfast mcp` looks at a server as a worker would, without a worker.
        room("mcp"),
        // `holdfast skills` looks into folders; no worker is needed for that.
        room("skills"),
        // `holdfast doctor --vendor` asks a vendor as a worker would, without a worker.
        room("providers"),
        // `holdfast worker` is the worker process, so this room may construct it.
        "^src/worker\\.ts$",
        PACKAGES,
      ],
      allowBuiltins: true,
    }),
    ...only("testing-is-below-client", room("testing"), {
      runtime: [
        ...rooms(
          "schema",
          "core",
          "hooks",
          "workflows",
          "activities",
          "config",
          "devserver",
          "codec",
          ...ADAPTERS,
        ),
        PACKAGES,
      ],
      allowBuiltins: true,
    }),
    ...only("recovery-frees-what-dead-workers-held", room("recovery"), {
      runtime: [...rooms("schema", "core", "transcript", "tools", "observability"), KILL_POINT, PACKAGES],
      allowBuiltins: true,
    }),
    ...only("worker-composes", WORKER, {
      runtime: [
        ...rooms(
          "schema",
          "core",
          "hooks",
          "workflows",
          "activities",
          "config",
          "recovery",
          "codec",
          ...ADAPTERS,
        ),
        PACKAGES,
      ],
      allowBuiltins: true,
    }),
    {
      name: "nobody-but-the-cli-imports-the-worker",
      severity: "error",
      from: { path: "^src/", pathNot: [room("cli"), WORKER] },
      to: { path: WORKER },
    },
    {
      name: "nobody-but-the-cli-imports-the-server",
      severity: "error",
      from: { path: "^src/", pathNot: [room("cli"), room("server")] },
      to: { path: room("server") },
    },
    {
      name: "nobody-imports-the-cli",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/cli/" },
      to: { path: room("cli") },
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
      from: { path: "^src/" },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"] },
    },
    { name: "no-unresolvable", severity: "error", from: { path: "^src/" }, to: { couldNotResolve: true } },
    {
      name: "no-circles",
      severity: "error",
      from: { path: "^src/" },
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "every-file-has-a-room",
      severity: "error",
      from: {
        path: "^src/",
        pathNot: [
          ...rooms(
            "schema",
            "core",
            "hooks",
            "workflows",
            "activities",
            "client",
            "config",
            "codec",
            "devserver",
            "recovery",
            "postgres",
            "server",
            "cli",
            "testing",
          ),
          ...rooms(...ADAPTERS),
          WORKER,
          KILL_POINT,
        ],
      },
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
