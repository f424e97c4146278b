/**
 * The modules of dist that the build replaces with bundles of libraries, with all packages of each bundle. An install does not
 * fetch these packages (docs/decisions/0038-bundled-terminal-library.md, 0041-bundled-vendor-libraries.md). The build fails if
 * a bundle contains another package.
 */
export const BUNDLES = {
  "apps/cli/diff": ["diff"],
  "apps/cli/tui/pi-tui": ["@mariozechner/pi-tui", "get-east-asian-width", "marked"],
  "models/bedrock-converse/aws-credential-chain": [
    "@aws-sdk/core",
    "@aws-sdk/credential-provider-env",
    "@aws-sdk/credential-provider-http",
    "@aws-sdk/credential-provider-ini",
    "@aws-sdk/credential-provider-login",
    "@aws-sdk/credential-provider-node",
    "@aws-sdk/credential-provider-process",
    "@aws-sdk/credential-provider-sso",
    "@aws-sdk/credential-provider-web-identity",
    "@aws-sdk/nested-clients",
    "@aws-sdk/signature-v4-multi-region",
    "@aws-sdk/token-providers",
    "@aws-sdk/xml-builder",
    "@aws/lambda-invoke-store",
    "@smithy/core",
    "@smithy/credential-provider-imds",
    "@smithy/node-http-handler",
    "@smithy/signature-v4",
    "@smithy/types",
    "bowser",
  ],
  "models/bedrock-converse/aws-sdk": [
    "@smithy/core",
    "@smithy/eventstream-codec",
    "@smithy/signature-v4",
    "@smithy/types",
  ],
  "store/transcript/sqlite/libsql": ["@neon-rs/load", "detect-libc", "libsql"],
  "testing/model-server/event-stream-codec": ["@smithy/core", "@smithy/eventstream-codec", "@smithy/types"],
  "tools/argument-repair/jsonrepair": ["jsonrepair"],
};

/** The names of all packages whose code is part of dist. */
export const BUNDLED_PACKAGES = [...new Set(Object.values(BUNDLES).flat())].sort();

/** The packages whose grammars are part of dist/apps/git/map/grammars, with the files that the build copies. */
export const GRAMMARS = {
  "tree-sitter-typescript": ["tree-sitter-typescript.wasm", "tree-sitter-tsx.wasm"],
  "tree-sitter-javascript": ["tree-sitter-javascript.wasm"],
  "tree-sitter-python": ["tree-sitter-python.wasm"],
  "tree-sitter-go": ["tree-sitter-go.wasm"],
  "tree-sitter-rust": ["tree-sitter-rust.wasm"],
  "tree-sitter-java": ["tree-sitter-java.wasm"],
  "tree-sitter-c": ["tree-sitter-c.wasm"],
};
