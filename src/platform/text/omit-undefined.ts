/** The fields of an object without those that are undefined: they may be absent, but are never present as `undefined`. */
export type Defined<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
};

/**
 * Returns the given fields without those that are undefined, in the same order. Spread it into an object whose optional
 * fields may not hold `undefined`, because JSON, hashes and comparisons distinguish it from an absent field.
 */
export function omitUndefined<Fields extends object>(fields: Fields): Defined<Fields> {
  const defined: Partial<Fields> = {};
  for (const name in fields) {
    if (fields[name] !== undefined) defined[name] = fields[name];
  }
  return defined as object as Defined<Fields>;
}
