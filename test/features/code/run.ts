import { randomBytes } from 'node:crypto'
import { DEFAULT_LIMITS } from '../../../src/features/code/limits.ts'
import { type Reply, runInSandbox, type SandboxOptions } from '../../../src/features/code/sandbox.ts'
import { SEED_BYTES } from '../../../src/features/code/seeded-random.ts'
import { LargeJson } from '../../../src/tools/large-json.ts'

export const NOW = 1_800_000_000

/**
 * Runs code with three tools: `echo` answers its arguments, `fail` answers an error, `stop` ends the run. The result has
 * also the requests of the code, as `asked`.
 */
export async function run(
  code: string,
  {
    limits = {},
    ...options
  }: Partial<Omit<SandboxOptions<string>, 'limits'>> & {
    limits?: Partial<SandboxOptions<string>['limits']>
  } = {},
) {
  const asked: unknown[] = []
  const result = await runInSandbox<string>(code, {
    language: 'javascript',
    now: NOW,
    seed: randomBytes(SEED_BYTES),
    limits: { ...DEFAULT_LIMITS, timeoutMs: 120_000, ...limits },
    async onRequest({ what, payload }): Promise<Reply<string>> {
      asked.push(payload)
      const { toolId, args } = payload as { toolId?: string; args?: unknown } // as the prelude writes it
      if (toolId === 'stop') return { reply: 'stop', stop: 'stopped' }
      if (toolId === 'fail')
        return { reply: 'error', error: { kind: 'KIND', message: 'It failed.', canRetry: true } }
      return { reply: 'value', value: what === 'list' ? [{ id: 'echo' }] : args }
    },
    ...options,
  })
  return { ...result, asked }
}

/** The value that the code returned; else the end of its run, so that a failing test shows the reason. */
export async function returned(code: string, options: Parameters<typeof run>[1] = {}): Promise<unknown> {
  const { end } = await run(code, options)
  if (end.outcome !== 'value') return end
  return end.value instanceof LargeJson ? end.value.parse() : end.value // as its caller is sent it
}

/** The kind of the error that ended the run; else the end of the run. */
export async function kindOf(code: string, options: Parameters<typeof run>[1] = {}): Promise<unknown> {
  const { end } = await run(code, options)
  return end.outcome === 'error' ? end.error.kind : end
}
