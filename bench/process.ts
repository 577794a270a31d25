import { type ChildProcess, execFileSync, fork, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'

/** A process that the bench started and stops. */
export interface Started extends AsyncDisposable {
  readonly child: ChildProcess
  /** User and system time that it and its children have used. */
  cpuMs(): number
  rssBytes(): number
  stop(): Promise<void>
}

export function startNode(
  args: readonly string[],
  { env = {}, stdio = 'inherit' }: { env?: Record<string, string>; stdio?: StdioOptions } = {},
): Started {
  return started(spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio }))
}

/** Starts a script of the bench, with a channel for messages. */
export function startScript(script: string, args: readonly string[] = []): Started {
  return started(fork(new URL(script, import.meta.url), args))
}

function started(child: ChildProcess): Started {
  const { pid } = child
  if (pid === undefined) throw new Error('a process could not be started')
  const exited = once(child, 'exit')
  const endWithBench = () => child.kill('SIGKILL')
  process.prependOnceListener('exit', endWithBench) // runs before the listeners that remove the bench's folders
  const stop = async () => {
    child.kill('SIGTERM')
    const killTimer = setTimeout(() => child.kill('SIGKILL'), 5_000)
    if (child.exitCode === null && child.signalCode === null) await exited
    clearTimeout(killTimer)
    process.off('exit', endWithBench)
  }
  return {
    child,
    cpuMs: () => cpuMsOf(pid),
    rssBytes() {
      const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
      return Number(kilobytes) * 1024
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** User and system time of the process, of its running children, and of those that have ended. */
export function cpuMsOf(pid: number): number {
  try {
    // the fields after the command name in parentheses: utime, stime, and their sums over ended children
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0)
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    return children.reduce((sum, child) => sum + cpuMsOf(Number(child)), (own * 1000) / ticksPerSecond())
  } catch (error) {
    // the process has ended meanwhile, and its time is in its parent's sum
    if (error instanceof Error && 'code' in error && ['ENOENT', 'ESRCH'].includes(String(error.code)))
      return 0
    throw error
  }
}

let ticks: number | undefined
export function ticksPerSecond(): number {
  ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
  return ticks
}

export async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}

/** Resolves once `/health` answers 200. Asks every few milliseconds. */
export async function untilHealthy(port: number, started: Started): Promise<void> {
  for (;;) {
    if (started.child.exitCode !== null) throw new Error('the server ended while it was starting')
    try {
      const response = await fetch(`http://127.0.0.1:${port}/health`)
      await response.arrayBuffer()
      if (response.ok) return
    } catch {
      // not listening yet
    }
    await new Promise((resolve) => setTimeout(resolve, 3))
  }
}
