/** The languages that are parsed: file endings, the package and the file of the grammar, and what it calls definitions. */
export type Language = {
  readonly name: string;
  readonly endings: readonly string[];
  readonly package: string;
  readonly grammar: string;
  /** A query whose captures are `name` within the kind of a definition, and `import`. */
  readonly query: string;
};

const SCRIPT_QUERY = `
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(class_declaration name: (_) @name) @class
(method_definition name: (property_identifier) @name) @method
(program (lexical_declaration (variable_declarator name: (identifier) @name)) @constant)
(export_statement (lexical_declaration (variable_declarator name: (identifier) @name)) @constant)
(import_statement source: (string) @import)
(export_statement source: (string) @import)
`;

const TYPESCRIPT_QUERY = `${SCRIPT_QUERY}
(function_signature name: (identifier) @name) @function
(abstract_class_declaration name: (type_identifier) @name) @class
(interface_declaration name: (type_identifier) @name) @interface
(type_alias_declaration name: (type_identifier) @name) @type
(enum_declaration name: (identifier) @name) @enum
`;

const LANGUAGES: readonly Language[] = [
  {
    name: "typescript",
    endings: ["ts", "mts", "cts"],
    package: "tree-sitter-typescript",
    grammar: "tree-sitter-typescript.wasm",
    query: TYPESCRIPT_QUERY,
  },
  {
    name: "tsx",
    endings: ["tsx"],
    package: "tree-sitter-typescript",
    grammar: "tree-sitter-tsx.wasm",
    query: TYPESCRIPT_QUERY,
  },
  {
    name: "javascript",
    endings: ["js", "mjs", "cjs", "jsx"],
    package: "tree-sitter-javascript",
    grammar: "tree-sitter-javascript.wasm",
    query: SCRIPT_QUERY,
  },
  {
    name: "python",
    endings: ["py", "pyi"],
    package: "tree-sitter-python",
    grammar: "tree-sitter-python.wasm",
    query: `
(function_definition name: (identifier) @name) @function
(class_definition name: (identifier) @name) @class
(module (expression_statement (assignment left: (identifier) @name)) @constant)
(import_from_statement module_name: (_) @import)
(import_statement name: (_) @import)
`,
  },
  {
    name: "go",
    endings: ["go"],
    package: "tree-sitter-go",
    grammar: "tree-sitter-go.wasm",
    query: `
(function_declaration name: (identifier) @name) @function
(method_declaration name: (field_identifier) @name) @method
(type_spec name: (type_identifier) @name) @type
(source_file (const_declaration (const_spec name: (identifier) @name) @constant))
(import_spec path: (_) @import)
`,
  },
  {
    name: "rust",
    endings: ["rs"],
    package: "tree-sitter-rust",
    grammar: "tree-sitter-rust.wasm",
    query: `
(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(struct_item name: (type_identifier) @name) @struct
(enum_item name: (type_identifier) @name) @enum
(union_item name: (type_identifier) @name) @union
(trait_item name: (type_identifier) @name) @trait
(type_item name: (type_identifier) @name) @type
(const_item name: (identifier) @name) @constant
(static_item name: (identifier) @name) @constant
(macro_definition name: (identifier) @name) @macro
(use_declaration argument: (_) @import)
`,
  },
  {
    name: "java",
    endings: ["java"],
    package: "tree-sitter-java",
    grammar: "tree-sitter-java.wasm",
    query: `
(class_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(record_declaration name: (identifier) @name) @record
(method_declaration name: (identifier) @name) @method
(import_declaration (scoped_identifier) @import)
`,
  },
  {
    name: "c",
    endings: ["c", "h"],
    package: "tree-sitter-c",
    grammar: "tree-sitter-c.wasm",
    query: `
(function_declarator declarator: (identifier) @name) @function
(struct_specifier name: (type_identifier) @name body: (_)) @struct
(union_specifier name: (type_identifier) @name body: (_)) @union
(enum_specifier name: (type_identifier) @name body: (_)) @enum
(type_definition declarator: (type_identifier) @name) @type
(preproc_function_def name: (identifier) @name) @macro
(preproc_include path: (_) @import)
`,
  },
];

const BY_ENDING = new Map(
  LANGUAGES.flatMap((language) => language.endings.map((ending) => [ending, language])),
);

/** Returns the language of a file, if its grammar is part of the package. */
export function findLanguage(path: string): Language | undefined {
  return BY_ENDING.get(/\.([A-Za-z]+)$/.exec(path)?.[1]?.toLowerCase() ?? "");
}
