import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'
import { parseSync } from 'vite'

// In which direction files may import each other: `layers.json` lists the layers. Biome finds circles (`noImportCycles`).

export interface Layers {
  /** By the first word of the name of a feature's file, the layer that the file belongs to; other files belong to `flows`. */
  readonly featureFiles: Readonly<Record<string, string>>
  /** The files outside `features` that read the list of features. */
  readonly featureFolds: readonly string[]
  /** From left to right. A row has groups that do not import each other; a group names folders and files of `src`. */
  readonly rows: readonly (readonly string[])[]
  /** By package, the folders and files of `src` that alone may import it. */
  readonly packages: Readonly<Record<string, readonly string[]>>
  /** By folder, and by a folder to its left of which it may not import every file: the files that it may import. */
  readonly files: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
}

/** Files that `tsc` wrote, which git ignores. */
const BUILT = /(?:^|[\\/])dist[\\/]/

export const layers: Layers = JSON.parse(readFileSync(new URL('layers.json', import.meta.url), 'utf8'))

/** One line for every import below `src` of a file to the right or in the same row, or of a package for other files. */
export function wrongImports(src: string, of: Layers = layers): string[] {
  const { rows, packages, files, featureFiles } = of
  const layerOf = (path: string): string => {
    const [, word] = /^features\/[^/]+\/(?:.+\/)?(\w+)[^/]*$/.exec(path) ?? []
    return word === undefined ? (path.split('/')[0] ?? path) : (featureFiles[word] ?? 'flows')
  }
  const places = new Map(
    rows.flatMap((groups, row) =>
      groups.flatMap((group) => group.split(' ').map((name) => [name, { row, group }] as const)),
    ),
  )
  return filesBelow(src).flatMap((file) => {
    const name = layerOf(file)
    const from = places.get(name)
    if (from === undefined) return [`${file}: ${name} has no place in layers.json`]
    return importsOf(join(src, file), file).flatMap((specifier) => {
      if (!specifier.startsWith('.')) {
        const owners = packages[packageOf(specifier)]
        const isAllowed =
          owners === undefined || owners.some((owner) => isWithin(file, owner) || name === owner)
        return isAllowed ? [] : [`${file}: only ${owners.join(', ')} may import ${specifier}`]
      }
      const path = posix.join(posix.dirname(file), specifier)
      const target = layerOf(path)
      const to = places.get(target)
      const permitted = files[name]?.[target]
      if (permitted !== undefined && !permitted.includes(path))
        return [`${file}: ${name} may not import ${path} (test/house/layers.json)`]
      if (path.startsWith('features/')) {
        const fault = faultOfUse(file, path, of)
        if (fault !== undefined) return [`${file}: ${fault} (test/house/layers.json)`]
        if (target === 'features') return []
      }
      if (target === '..' || (to !== undefined && (to.group === from.group || to.row < from.row))) return []
      return [`${file}: ${specifier} is not to the left of ${name} (test/house/layers.json)`]
    })
  })
}

/** Why the file may not import the file `path` of `features`. */
function faultOfUse(file: string, path: string, { featureFolds }: Layers): string | undefined {
  const [, feature] = /^features\/([^/]+)\//.exec(path) ?? []
  const isOfFeatures = file.startsWith('features/')
  if (feature === undefined)
    return isOfFeatures || featureFolds.includes(file) ? undefined : `only a few files may import ${path}`
  const isOwn = file.startsWith(`features/${feature}/`) || file === 'features/features.ts'
  return isOwn ? undefined : `${path} belongs to one feature`
}

function filesBelow(src: string): string[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !BUILT.test(name))
    .map((name) => relative(src, join(src, name)).split(sep).join('/'))
    .sort()
}

/** The imports of a file, with those of types and `import(…)` of a string. */
export function importsOf(path: string, name: string): string[] {
  const text = readFileSync(path, 'utf8')
  const { module, errors } = parseSync(name, text, { lang: 'ts' })
  if (errors.length > 0) throw new Error(`${path} cannot be read: ${errors[0]?.message}`)
  return [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => (moduleRequest ? [moduleRequest.value] : [])),
    ),
    ...module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
      const [, literal] = /^['"](.*)['"]$/.exec(text.slice(start, end)) ?? []
      return literal === undefined ? [] : [literal]
    }),
  ]
}

export function packageOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/')
  return first.startsWith('@') ? `${first}/${second}` : first
}

function isWithin(file: string, owner: string): boolean {
  return file === owner || file.startsWith(`${owner}/`)
}
