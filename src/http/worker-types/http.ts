import { z } from '@hono/zod-openapi'
import {
  defineWorkerType,
  keptSecret,
  toKeptSecret,
  workerRetry,
  workerTimeout,
  workerUri,
} from './define.ts'

const secret = z.string().min(1).max(100)

/** Arcade's HTTP tool workers. */
export const httpWorker = defineWorkerType({
  type: 'http',
  create: z.object({
    uri: workerUri,
    secret,
    timeout: workerTimeout.default(30),
    retry: workerRetry.default(3),
  }),
  change: z.object({
    uri: workerUri.optional(),
    secret: secret.optional(),
    timeout: workerTimeout.optional(),
    retry: workerRetry.optional(),
  }),
  answer: z.object({ uri: z.string(), timeout: z.number(), retry: z.number(), secret: keptSecret }),
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
    ...(timeout !== undefined && { timeoutSeconds: timeout }),
    ...(retry !== undefined && { retry }),
  }),
  toWire: (_, { uri, timeoutSeconds, retry }) => ({
    uri,
    timeout: timeoutSeconds,
    retry,
    secret: toKeptSecret(true),
  }),
})
