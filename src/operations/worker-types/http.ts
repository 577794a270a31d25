import { z } from '@hono/zod-openapi'
import { changedLimits, defineWorkerType, keptSecret, limits, toKeptSecret, workerUri } from './define.ts'

const secret = z
  .string()
  .min(1)
  .max(100)
  .meta({ description: 'The server’s own secret, with which every request is signed', writeOnly: true })

const settings = z.object({ uri: workerUri, secret, ...limits.create })

/** Arcade's HTTP tool workers. */
export const httpWorker = defineWorkerType({
  type: 'http',
  create: settings,
  change: settings.partial().extend(limits.change),
  answer: z.object({ uri: z.string(), ...limits.answer, secret: keptSecret }),
  toSettings: (_, { uri, secret, timeout, retry }) => ({
    uri,
    secret,
    settings: {},
    timeoutSeconds: timeout,
    retry,
  }),
  toChange: (_, { uri, secret, timeout, retry }) => ({
    ...(uri !== undefined && { uri }),
    ...(secret !== undefined && { secret }),
    ...changedLimits({ timeout, retry }),
  }),
  toWire: (_, { uri, timeoutSeconds, retry }) => ({
    uri,
    timeout: timeoutSeconds,
    retry,
    secret: toKeptSecret(true),
  }),
})
