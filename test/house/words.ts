import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { parseSync } from 'vite'
import { isOfRemovedFeature } from './removed-features.ts'

// Comments and pages must not refer to a document or a file that is not in this repository, and must name who does what.

interface Passage {
  readonly file: string
  readonly line: number
  readonly text: string
}

const FOLDERS = ['src', 'test', 'bench', 'bin', 'build', 'docs', 'examples']
/** The changelog names files of earlier releases; this rule and its tests have forbidden words on purpose. */
const LEFT_OUT = ['CHANGELOG.md', 'test/house/words.test.ts', 'test/house/words.ts']

/** Names of documents that were never part of the repository. */
const FOREIGN_DOCUMENTS =
  /\b(?:reference|seeds?|shared)\/[\w-]+(?:\.md)?|\bissue \d+\b|\bfindings? [A-E]\d+/gi
/** A page or a source file: its name or its path, without wildcards. */
const PATHS =
  /(?<![\w./:@*-])(?:(?:src|test|bench|build|docs|drizzle|examples|bin)\/)?[\w-]+(?:\/[\w.-]+)*\.(?:md|ts)\b/g
/** Words that hide who does what, and metaphors of our own where the field has a term. */
const RIDDLES =
  /\b(?:whoever|whatever|nobody|somebody|anew|what there is|what there are|what comes|as it is|is away|are away|is told|are told|keeps up|last words|(?<!-)stands?(?!-)|stood)\b/gi
/** Code, names of tests and output, which are not the words of the page. */
const QUOTED = /`[^`]*`|"[^"]*"/g
const URLS = /\bhttps?:\/\/\S+/g

/** One line for each fault: a comment or a line of a page names a file that `root` does not have, or has a riddle. */
export function wordFaults(root: string): string[] {
  const files = filesOf(root)
  return files
    .filter((file) => !LEFT_OUT.includes(file))
    .flatMap((file) => passagesOf(root, file))
    .flatMap(({ file, line, text }) => {
      const plain = text.replaceAll(URLS, '')
      const own = file.endsWith('.md') ? plain.replaceAll(QUOTED, '') : plain
      const named = [...plain.matchAll(PATHS), ...plain.matchAll(FOREIGN_DOCUMENTS)].map(([name]) => name)
      const missing = [...new Set(named)].filter(
        (name) => !isThere(files, name) && !isOfRemovedFeature(root, name),
      )
      const riddles = new Set([...own.matchAll(RIDDLES)].map(([word]) => word))
      return [
        ...missing.map((name) => `${file}:${line}: ${name} is not in this repository`),
        ...[...riddles].map((word) => `${file}:${line}: "${word}": name who does what`),
      ]
    })
}

function filesOf(root: string): string[] {
  const below = FOLDERS.filter((folder) => existsSync(join(root, folder))).flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  return [...readdirSync(root), ...below]
    .map((name) => relative('.', name).split(sep).join('/'))
    .filter((name) => /\.(ts|md)$/.test(name) && !/node_modules|(?:^|\/)dist\//.test(name))
    .sort()
}

function passagesOf(root: string, file: string): Passage[] {
  const text = readFileSync(join(root, file), 'utf8')
  if (file.endsWith('.md'))
    return text.split('\n').map((line, index) => ({ file, line: index + 1, text: line }))
  return parseSync(file, text, { lang: 'ts' }).comments.map(({ start, value }) => ({
    file,
    line: text.slice(0, start).split('\n').length,
    text: value,
  }))
}

/** Files that the pages tell their readers to write. */
const READERS_FILES = ['my-tools.ts', 'my-app.ts', 'from-arcade.ts']

/** A path may lack its first folders: `outgoing.ts` and `egress/outgoing.ts` both mean `src/egress/outgoing.ts`. */
function isThere(files: readonly string[], name: string): boolean {
  return READERS_FILES.includes(name) || files.some((file) => `/${file}`.endsWith(`/${name}`))
}
