import type { LoadAnswer, LoadOrder } from './load-process.ts'

process.on('message', async ({ module, job }: LoadOrder) => {
  const figure: { load(job: unknown): Promise<unknown> } = await import(module)
  const answer: LoadAnswer = await figure.load(job).then(
    (result) => ({ result }),
    (error: Error) => ({ failure: error.stack ?? error.message }),
  )
  process.send?.(answer)
})
process.on('disconnect', () => process.exit())
