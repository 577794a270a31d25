import { once } from 'node:events'
import { type Started, startScript } from './process.ts'

/** The load generator: a process of its own that runs the `load` of a figure's file. */
export interface LoadProcess extends AsyncDisposable {
  run<Job, Result>(figure: Figure<Job, Result>, job: Job): Promise<Result>
}

/** The load process imports `module` and calls its `load`: a function cannot be sent to another process. */
export interface Figure<Job, Result> {
  readonly module: string
  readonly load: (job: Job) => Promise<Result>
}

export interface LoadOrder {
  readonly module: string
  readonly job: unknown
}

export type LoadAnswer = { readonly result: unknown } | { readonly failure: string }

export function startLoadProcess(): LoadProcess {
  const worker: Started = startScript('load-worker.ts')
  return {
    async run<Job, Result>({ module }: Figure<Job, Result>, job: Job) {
      worker.child.send({ module, job } satisfies LoadOrder)
      const [answer] = (await once(worker.child, 'message')) as [LoadAnswer]
      if ('failure' in answer) throw new Error(`the load generator failed: ${answer.failure}`)
      return answer.result as Result // what that module's `load` answers, by type
    },
    [Symbol.asyncDispose]: worker.stop,
  }
}
