/** The part of a layout that leaves these members of an operation out: `...omitted('id', 'project')`. */
export function omitted<const Names extends readonly string[]>(
  ...names: Names
): { readonly [Name in Names[number]]: false } {
  return Object.fromEntries(names.map((name) => [name, false])) as never // one for each name
}
