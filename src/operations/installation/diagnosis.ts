import { z } from '@hono/zod-openapi'
import { defineOperation } from '../operation.ts'

const checkSchema = z
  .object({
    name: z.string(),
    status: z.enum(['ok', 'warning', 'failed']),
    message: z.string(),
    fix: z.string().optional().meta({ description: 'How to fix it' }),
  })
  .openapi('DiagnosisCheck')

export type DiagnosisCheck = z.infer<typeof checkSchema>
/** Checks one project with the settings of this server; also the whole installation, if the project administers it. */
export type Diagnose = (projectId: string) => Promise<readonly DiagnosisCheck[]>

/** The checks that `gatepass doctor` requests from a running server, which alone knows its settings. */
export const createGetDiagnosis = (diagnose: Diagnose) =>
  defineOperation({
    id: 'getDiagnosis',
    method: 'get',
    path: '/v1/admin/diagnosis',
    role: 'admin',
    tag: 'Operation',
    summary: 'Check the installation with the settings of this server, and say how to fix its faults',
    description:
      'It sends requests to the providers and the workers. Only keys of the project `default` see the settings, the logins and the telemetry of the installation.',
    answer: 'All checks; `ok` is true when none failed',
    output: z.object({ ok: z.boolean(), checks: z.array(checkSchema) }),
    async run(_, { caller }) {
      const checks = [...(await diagnose(caller.projectId))]
      return { ok: checks.every(({ status }) => status !== 'failed'), checks }
    },
  })
