// How the API reference shows types that zod infers.
import { Comment, Converter } from "typedoc";
import ts from "typescript";

/**
 * Lets TypeDoc show a type that is inferred from a schema by its name wherever it is used, and with its fields where it is
 * declared; and a schema as `z.ZodObject` instead of with all its type arguments. Without that, each use of such a type
 * repeats all its fields.
 */
export function nameSchemaTypes(app) {
  const symbols = new Map();
  app.converter.on(Converter.EVENT_BEGIN, ({ programs }) => {
    for (const program of programs) collectInferredTypes(program, symbols);
  });
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, addGetterComment);
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, addDescription);
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, sortUnions);
  const convertType = app.converter.convertType.bind(app.converter);
  app.converter.convertType = (context, typeOrNode, node) => {
    if (typeOrNode === undefined) return convertType(context, typeOrNode, node);
    if ("kind" in typeOrNode) {
      const inferred = findInferredType(context.checker, typeOrNode);
      if (inferred === undefined) return convertType(context, typeOrNode, node);
      // Of two names of one type, the second is shown as the first.
      return symbols.get(inferred.type) === inferred.symbol
        ? convertWithoutName(inferred.type, () => convertType(context, inferred.type))
        : convertType(context, inferred.type);
    }
    return isSchema(typeOrNode)
      ? context.createSymbolReference(typeOrNode.symbol, context, `z.${typeOrNode.symbol.name}`)
      : convertType(context, typeOrNode, node);
  };
}

/** A schema that refers to a later one has a getter for its field, whose docstring TypeDoc does not see. */
function addGetterComment(context, reflection) {
  if (reflection.comment !== undefined) return;
  const declaration = context.getSymbolFromReflection(reflection)?.declarations?.find(ts.isGetAccessor);
  if (declaration !== undefined) reflection.comment = context.getNodeComment(declaration, false);
}

/** The field of a schema has its sentence in `.describe("…")`, where JSON Schema finds it too, instead of in a docstring. */
function addDescription(context, reflection) {
  if (reflection.comment !== undefined) return;
  const declarations = context.getSymbolFromReflection(reflection)?.declarations ?? [];
  const description = declarations.map(findFieldSchema).map(findDescription).find(Boolean);
  if (description !== undefined) reflection.comment = new Comment([{ kind: "text", text: description }]);
}

/** The expression of a field's schema, which may be what a getter returns. */
function findFieldSchema(declaration) {
  if (ts.isPropertyAssignment(declaration)) return declaration.initializer;
  if (!ts.isGetAccessor(declaration)) return undefined;
  return declaration.body?.statements.find(ts.isReturnStatement)?.expression;
}

function findDescription(schema) {
  if (schema === undefined || !ts.isCallExpression(schema)) return undefined;
  const { expression, arguments: given } = schema;
  const describes = ts.isPropertyAccessExpression(expression) && expression.name.text === "describe";
  return describes && ts.isStringLiteralLike(given[0]) ? given[0].text : undefined;
}

/** The compiler forgets the name of `type X = z.infer<typeof X>` or `Partial<…>`: this gives such a type its name back. */
function collectInferredTypes(program, symbols) {
  const checker = program.getTypeChecker();
  const files = program.getSourceFiles().filter(({ isDeclarationFile }) => !isDeclarationFile);
  for (const statement of files.flatMap(({ statements }) => [...statements])) {
    if (!isInferredAlias(statement)) continue;
    const symbol = checker.getSymbolAtLocation(statement.name);
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    const isNamed = (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.UnionOrIntersection)) !== 0;
    if (!isNamed || symbols.has(type)) continue;
    symbols.set(type, symbol);
    type.aliasSymbol = symbol;
    type.aliasTypeArguments = undefined;
  }
}

function isInferredAlias(statement) {
  return (
    ts.isTypeAliasDeclaration(statement) &&
    statement.typeParameters === undefined &&
    ts.isTypeReferenceNode(statement.type) &&
    /^(z\.(infer|input|output)|Partial)$/.test(statement.type.typeName.getText())
  );
}

/** The inferred type that a node declares, if it is the right side of its declaration. */
function findInferredType(checker, node) {
  const { parent } = node;
  if (parent === undefined || parent.type !== node || !isInferredAlias(parent)) return undefined;
  const symbol = checker.getSymbolAtLocation(parent.name);
  return { symbol, type: checker.getDeclaredTypeOfSymbol(symbol) };
}

function convertWithoutName(type, convert) {
  const { aliasSymbol } = type;
  type.aliasSymbol = undefined;
  try {
    return convert();
  } finally {
    type.aliasSymbol = aliasSymbol;
  }
}

function isSchema({ symbol }) {
  const file = symbol?.declarations?.[0]?.getSourceFile().fileName;
  return file !== undefined && /^Zod[A-Z]/.test(symbol.name) && file.includes("/node_modules/zod/");
}

/**
 * Puts the members of unions into the order of their declaration. The compiler's own order depends on what it has met
 * before, so that a change elsewhere could change a page.
 */
function sortUnions(context) {
  for (const reflection of Object.values(context.project.reflections)) {
    const union = findUnion(reflection.type);
    if (union === undefined) continue;
    const declarations = context.getSymbolFromReflection(reflection)?.declarations ?? [];
    const text = declarations.map((declaration) => declaration.getText()).join("\n");
    const ranked = union.types.map((type) => ({ type, rank: rankMember(type, text) }));
    if (ranked.some(({ rank }) => rank === undefined)) continue;
    ranked.sort((a, b) => a.rank - b.rank || compareText(String(a.type), String(b.type)));
    union.types = ranked.map(({ type }) => type);
  }
}

function findUnion(type) {
  if (type?.type === "array") return findUnion(type.elementType);
  if (type?.type === "typeOperator") return findUnion(type.target);
  return type?.type === "union" ? type : undefined;
}

/** Where the text names the member first; members that it does not name come later, and nothing last. */
function rankMember(type, text) {
  if (type.type === "literal" && type.value === null) return Number.MAX_SAFE_INTEGER - 1;
  if (type.type === "intrinsic" && type.name === "undefined") return Number.MAX_SAFE_INTEGER;
  const name =
    type.type === "literal" ? JSON.stringify(type.value) : type.type === "reference" ? type.name : undefined;
  if (name === undefined) return undefined;
  const at = text.indexOf(name);
  return at < 0 ? text.length : at;
}

function compareText(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
