import type { UseOfFeature } from '../../store/every-request.ts'

export const useScheduledRuns: UseOfFeature = async ({ call, run }) => {
  const run_at = new Date(Date.now() + 30 * 24 * 3600 * 1000).toISOString()
  const scheduled = await call('POST', '/v1/tools/execute', { ...run, run_at })
  const ofRun = { id: scheduled.execution_id }
  await call('GET', '/v1/scheduled_tools')
  await call('GET', '/v1/scheduled_tools/{id}', undefined, ofRun)
  await call('DELETE', '/v1/scheduled_tools/{id}', undefined, ofRun)
}
