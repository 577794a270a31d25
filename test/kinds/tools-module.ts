import { z } from 'zod'
import { defineTool, UpstreamError } from '../../src/sdk/tools/index.ts'
import { digest } from '../digest.ts'
import { PROVIDERS } from './serve.ts'

// The same tools as in `serve.ts`, in the process of Gatepass.

export const tools = PROVIDERS.map((name) =>
  defineTool({
    name,
    namespace: 'ModuleKind',
    description: `Needs ${name}.`,
    input: z.object({ leak: z.string().optional() }),
    requiresAuth: { id: name, scopes: ['read'] },
    handler({ input: { leak }, authorization: { token }, userId, log, progress }) {
      if (leak === 'error')
        throw new UpstreamError(`Bearer ${token} was refused`, { developerMessage: token })
      if (leak === 'log') {
        log.error(`the token is ${token}`)
        progress.report(1, 2, `the token is ${token}`)
      }
      const token_digest = digest(token)
      return {
        token_digest,
        user_id: userId,
        ...(leak === 'value' && { token, inside: [`Bearer ${token}`] }),
      }
    },
  }),
)
