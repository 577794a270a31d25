import type { PrepareAlpha } from '../../threats/alpha-part.ts'

export const scheduledRunOfAlpha: PrepareAlpha = async (alpha, run) => {
  const later = new Date(Date.now() + 30 * 24 * 3600 * 1000).toISOString()
  const { execution_id } = await alpha('POST', '/v1/tools/execute', { ...run, run_at: later })
  return { ids: [execution_id] }
}
