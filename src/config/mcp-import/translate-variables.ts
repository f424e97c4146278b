import { basename, sep } from "node:path";

// `${env:NAME}`, `${NAME:-default}` and the other variables of Claude, Cursor and VS Code as `${NAME}`.

export type VariableContext = {
  /** The folder that `${workspaceFolder}` stands for. */
  readonly folder: string;
  readonly home: string;
};

export type Translated = {
  readonly text: string;
  /** What a user has to know: one sentence each. */
  readonly notes: readonly string[];
};

const VARIABLE = /\$\{([^{}]*)\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function translateVariables(text: string, { folder, home }: VariableContext): Translated {
  const notes: string[] = [];
  const known: Readonly<Record<string, string>> = {
    workspaceFolder: folder,
    workspaceFolderBasename: basename(folder),
    userHome: home,
    pathSeparator: sep,
    "/": sep,
  };
  const translated = text.replace(VARIABLE, (written: string, variable: string) => {
    const value = Object.hasOwn(known, variable) ? known[variable] : undefined;
    if (value !== undefined) return value;
    const [, name = "", fallback] = /^(?:env:)?([^:]*)(:-.*)?$/.exec(variable) ?? [];
    if (NAME.test(name)) {
      if (fallback !== undefined)
        notes.push(`set ${name}: the value that the file gives without it is left out`);
      return `\${${name}}`;
    }
    const asked = /^(?:input|promptString):(.+)$/.exec(variable)?.[1];
    if (asked !== undefined) {
      const own = toVariableName(asked);
      notes.push(`set ${own}: the other program asks for this value`);
      return `\${${own}}`;
    }
    notes.push(`replace ${written}: Holdfast has no such variable`);
    return written;
  });
  return { text: translated, notes };
}

/** Converts a text to the name of a variable: `github-token` to GITHUB_TOKEN. */
export function toVariableName(text: string): string {
  const name = text
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .toUpperCase();
  return /^\d/.test(name) || name === "" ? `MCP_${name}` : name;
}
