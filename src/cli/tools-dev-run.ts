import { type ChildProcess, fork } from 'node:child_process'
import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DEV_VARIABLE, type DevMessage, type DevTask } from './tools-dev-messages.ts'

// Runs the author's file in a process, and starts another one when the file or a module that it has loaded changes.

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
const PROGRAM = new URL(`./tools-dev-process.${EXTENSION}`, import.meta.url)
/** The wait after a change, because editors write a file in several steps. */
const SETTLE_MS = 100

export interface ToolsProcess {
  close(): Promise<void>
}

export type Report =
  | Exclude<DevMessage, { readonly kind: 'loaded' }>
  | { readonly kind: 'changed'; readonly file: string }

/** Starts the process. `onReport` receives its messages and the changes of files; `close` ends it. */
export function runTools(
  task: DevTask,
  environment: Readonly<Record<string, string | undefined>>,
  onReport: (report: Report) => void,
): ToolsProcess {
  /** File names by folder: folders are watched, because editors replace files. */
  const watched = new Map<string, { readonly names: Set<string>; readonly watcher: FSWatcher }>()
  let child: ChildProcess | undefined
  let timer: NodeJS.Timeout | undefined
  /** Restarts run one after another: two at once would start two processes, of which the first is never ended. */
  let restarted = Promise.resolve()
  let isClosing = false

  function start(): void {
    const started = fork(PROGRAM, {
      env: { ...environment, [DEV_VARIABLE]: JSON.stringify(task) },
      // standard output is for what the command prints
      stdio: ['ignore', 2, 2, 'ipc'],
    })
    child = started
    let hasReported = false
    started.on('message', (message: DevMessage) => {
      if (started !== child || isClosing) return
      if (message.kind === 'loaded') return watchFile(fileURLToPath(message.url))
      hasReported = true
      onReport(message)
    })
    started.on('exit', (code, signal) => {
      if (started !== child || isClosing) return
      child = undefined
      if (hasReported && code === 0) return
      onReport({ kind: 'fault', message: `its process has ended (${signal ?? `exit code ${code}`}).` })
    })
  }

  function watchFile(file: string): void {
    const folder = dirname(file)
    const known = watched.get(folder)
    if (known !== undefined) {
      known.names.add(basename(file))
      return
    }
    const names = new Set([basename(file)])
    const watcher = watch(folder, (_, name) => {
      if (name === null || !names.has(name)) return
      clearTimeout(timer)
      timer = setTimeout(() => {
        restarted = restarted.then(() => restart(name))
      }, SETTLE_MS)
    })
    watcher.on('error', () => undefined) // the folder was deleted
    watched.set(folder, { names, watcher })
  }

  async function restart(name: string): Promise<void> {
    if (isClosing) return
    onReport({ kind: 'changed', file: name })
    await end()
    if (!isClosing) start()
  }

  /** Ends the process and waits for its exit, because the next process needs the same port. */
  async function end(): Promise<void> {
    const ending = child
    child = undefined
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return
    const ended = new Promise((resolve) => ending.once('exit', resolve))
    ending.kill('SIGKILL')
    await ended
  }

  watchFile(task.file) // also when it cannot be loaded
  start()
  return {
    async close() {
      isClosing = true
      clearTimeout(timer)
      for (const { watcher } of watched.values()) watcher.close()
      await restarted
      await end()
    },
  }
}
