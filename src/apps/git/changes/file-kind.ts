/** What a file is for, by its path alone. */
export type FileKind = "source" | "test" | "config" | "docs" | "generated" | "vendored" | "other";

const SOURCE =
  /\.(rs|py|pyi|[cm]?[jt]sx?|go|java|kts?|swift|[ch]|cc|cpp|cxx|hpp|hh|cs|rb|php|scala|clj|exs?|erl|hs|ml|lua|sh|bash|zsh|sql|vue|svelte|dart|zig|m|mm|pl|r|jl|proto|css|scss|html?)$/;
const CONFIG =
  /\.(toml|json|jsonc|ya?ml|ini|cfg|conf|env|properties|xml|gradle|nix|tf)$|(^|\/)(dockerfile|makefile|\.[a-z]+rc|\.git(ignore|attributes|modules)|\.editorconfig)$/;
const DOCS =
  /\.(md|mdx|txt|rst|adoc|org|tex)$|(^|\/)(readme|licen[cs]e|changelog|authors|contributing|notice)$/;
const TEST =
  /(^|\/)(tests?|specs?|__tests__|testing|testdata|fixtures)\/|(^|\/)test_[^/]*$|[._-](test|spec)s?\.[^/]+$/;
const GENERATED =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|cargo\.lock|poetry\.lock|uv\.lock|pipfile\.lock|gemfile\.lock|composer\.lock|go\.sum|flake\.lock)$|\.(lock|snap|map)$|\.min\.[a-z]+$|(\.|_)(pb|generated|gen)\.[a-z]+$|_pb2(_grpc)?\.pyi?$|(^|\/)(generated|__generated__|__snapshots__)\//;
const VENDORED = /(^|\/)(vendor|node_modules|third_party|bower_components)\//;

/** The first that fits: a lock file is JSON, but nobody writes it. */
const KINDS: readonly (readonly [FileKind, RegExp])[] = [
  ["vendored", VENDORED],
  ["generated", GENERATED],
  ["test", TEST],
  ["docs", DOCS],
  ["source", SOURCE],
  ["config", CONFIG],
];

export function classifyFile(path: string): FileKind {
  const lower = path.toLowerCase();
  return KINDS.find(([, pattern]) => pattern.test(lower))?.[0] ?? "other";
}

/** Whether a file is source code, be it of a test or not. */
export function isSourceFile(path: string): boolean {
  return SOURCE.test(path.toLowerCase());
}
