// The common model of the three formats: tables, lists and scalars, each with its position in the text.

/** A range of offsets in the text; `end` is exclusive. */
export type Span = { readonly start: number; readonly end: number };

export type Step = string | number;
export type Path = readonly Step[];

export type Scalar = string | number | boolean | null;

export type SourceEntry = { readonly key: Span; readonly node: SourceNode };

export type SourceNode =
  | { readonly type: "table"; readonly span: Span; readonly entries: ReadonlyMap<string, SourceEntry> }
  | { readonly type: "list"; readonly span: Span; readonly items: readonly SourceNode[] }
  | {
      readonly type: "scalar";
      readonly span: Span;
      readonly value: Scalar;
      /** The value had no quotes, so its text determines its type. */
      readonly bare: boolean;
    };

/** Returns the value without positions. A key such as `__proto__` stays a key. */
export function toPlainValue(node: SourceNode): unknown {
  switch (node.type) {
    case "scalar":
      return node.value;
    case "list":
      return node.items.map(toPlainValue);
    case "table": {
      const table: Record<string, unknown> = {};
      for (const [key, entry] of node.entries) setOwnKey(table, key, toPlainValue(entry.node));
      return table;
    }
  }
}

export function setOwnKey(table: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(table, key, { value, enumerable: true, writable: true, configurable: true });
}

function findNode(root: SourceNode, path: Path): SourceNode | undefined {
  let here: SourceNode | undefined = root;
  for (const step of path) here = here === undefined ? undefined : getChild(here, step)?.node;
  return here;
}

/** Finds the position of the value at a path, or of the nearest table or list that should contain it. */
export function findValueSpan(root: SourceNode, path: Path): Span {
  for (let length = path.length; length > 0; length -= 1) {
    const node = findNode(root, path.slice(0, length));
    if (node === undefined) continue;
    return length === path.length ? node.span : findKeySpan(root, path.slice(0, length));
  }
  return { start: root.span.start, end: root.span.start };
}

/** Finds the position of the key at a path, or of the list member. */
export function findKeySpan(root: SourceNode, path: Path): Span {
  const parent = findNode(root, path.slice(0, -1));
  const step = path.at(-1);
  const entry = parent === undefined || step === undefined ? undefined : getChild(parent, step);
  return entry?.key ?? findValueSpan(root, path.slice(0, -1));
}

function getChild(node: SourceNode, step: Step): SourceEntry | undefined {
  if (node.type === "table") return node.entries.get(String(step));
  if (node.type !== "list" || typeof step !== "number") return undefined;
  const item = node.items[step];
  return item === undefined ? undefined : { key: item.span, node: item };
}

/** Formats a path, such as `agent.instances[1].name`. */
export function formatPath(path: Path): string {
  return path
    .map((step, index) =>
      typeof step === "number" ? `[${step}]` : `${index === 0 ? "" : "."}${quoteKey(step)}`,
    )
    .join("");
}

function quoteKey(key: string): string {
  return /^[A-Za-z0-9_$-]+$/.test(key) ? key : JSON.stringify(key);
}
