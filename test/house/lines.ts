import { spawnSync } from 'node:child_process'

// `npm run lines`: how long `src` is, by its folders. `npm run lines -- <commit>` counts that commit.

/** `data` are texts of pages, stylesheets, definitions of providers, and other JSON. */
export type Kind = 'written' | 'generated' | 'data'
export type Count = Readonly<Record<Kind, number>>

/** Whether a line says that a generator has written the file. It counts in the first line alone. */
const GENERATED = '(generated|written|made) .*`npm run [a-z-]+'
const NONE: Count = { written: 0, generated: 0, data: 0 }

/**
 * The lines of every folder of `src`: of the files in the folder `root`, with those that git does not know yet, or of a
 * commit of its repository.
 */
export function linesOf(root: string, commit?: string): ReadonlyMap<string, Count> {
  const generated = new Set(
    grep(root, commit, ['-n', '-i', '-E', '-e', GENERATED]).flatMap(([file, line]) =>
      line === '1' ? [file] : [],
    ),
  )
  const counts = new Map<string, Count>()
  for (const [file, lines] of grep(root, commit, ['-c', '-e', ''])) {
    const folder = file.split('/').length === 2 ? 'src' : file.split('/').slice(0, 2).join('/')
    const count = counts.get(folder) ?? NONE
    const kind = kindOf(file, generated.has(file))
    counts.set(folder, { ...count, [kind]: count[kind] + Number(lines) })
  }
  return counts
}

function kindOf(file: string, isMarked: boolean): Kind {
  if (isMarked || file.includes('/generated/')) return 'generated'
  return /\.(?:json|css)$/.test(file) ? 'data' : 'written'
}

/** `git grep`, which reads a commit as fast as the files: each result as its file and the field after it. */
function grep(root: string, commit: string | undefined, args: readonly string[]): [string, string][] {
  const where = commit === undefined ? ['--untracked'] : [commit]
  const { status, stdout, stderr } = spawnSync(
    'git',
    ['grep', '-z', ...args, ...where, '--', 'src/*.ts', 'src/*.json', 'src/*.css'],
    { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 },
  )
  if (status !== 0 && status !== 1) throw new Error(stderr) // 1: no file has it
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [file = '', field = ''] = line.split('\0')
      return [commit === undefined ? file : file.slice(commit.length + 1), field]
    })
}

if (import.meta.main) {
  const counts = [...linesOf('.', process.argv[2])].sort(([a], [b]) => a.localeCompare(b))
  const total = counts.reduce(
    (sum, [, count]) => ({
      written: sum.written + count.written,
      generated: sum.generated + count.generated,
      data: sum.data + count.data,
    }),
    NONE,
  )
  const row = (name: string, { written, generated, data }: Record<Kind, number | string>) =>
    `${name.padEnd(18)}${[written, generated, data].map((one) => String(one).padStart(11)).join('')}`
  console.log(row('lines', { written: 'written', generated: 'generated', data: 'data' }))
  for (const [folder, count] of [...counts, ['in all', total] as const]) console.log(row(folder, count))
}
