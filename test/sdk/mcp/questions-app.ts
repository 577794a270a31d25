import { z } from 'zod'
import type { GatepassClient } from '../../../src/sdk/tools/gatepass-client.ts'
import { ToolApp } from '../../../src/sdk/tools/index.ts'

/** An app whose tools ask and report, and the counts of their runs. */
export function questionsApp(gatepass?: GatepassClient) {
  const counts = { entered: 0, charged: 0, cleaned: 0, cancelled: 0 }
  const app = new ToolApp({
    name: 'questions',
    version: '1.2.0',
    instructions: 'Ask away.',
    ...(gatepass && { gatepass }),
  })
  app.tool('book', {
    description: 'Books a table, after two questions.',
    input: z.object({ place: z.string() }),
    output: z.object({ place: z.string(), guests: z.int(), paid: z.number() }),
    annotations: { destructiveHint: true },
    async handler({ input: { place }, ui, step, log, progress }) {
      counts.entered++
      await log.info(`Booking ${place}`)
      await progress.report(1, 2, 'asking')
      try {
        const { content } = await ui.elicit('How many?', z.object({ guests: z.int().min(1).max(9) }))
        const paid = await step('charge', () => ++counts.charged)
        const sure = await ui.elicit('Sure?', z.object({ sure: z.boolean() }))
        await progress.report(2, 2, 'done')
        return { place, guests: sure.content?.sure ? (content?.guests ?? 0) : 0, paid }
      } finally {
        counts.cleaned++
      }
    },
  })
  app.tool('context', {
    description: 'Tells whose call it is, and the roots.',
    input: z.object({}),
    async handler({ userId, sessionId, requestId, resources, metadata }) {
      const roots = (await resources.listRoots()).map(({ uri }) => uri)
      return { userId, hasSession: sessionId !== null, requestId, roots, metadata }
    },
  })
  app.tool('numbers', {
    description: 'Returns a list.',
    input: z.object({}),
    output: z.array(z.number()),
    handler: () => [1, 2, 3],
  })
  app.tool('waits', {
    description: 'Waits until it is cancelled.',
    input: z.object({}),
    handler({ signal }) {
      counts.entered++
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          counts.cancelled++
          reject(new Error('cancelled'))
        }),
      )
    },
  })
  return { app, counts }
}
