import { fromTimestamp } from '../../domain/clock.ts'
import { EXECUTION_STATUSES } from '../../domain/execution.ts'
import { exactTime } from '../../http/console/elements.ts'
import { submit } from '../../http/console/form-fields.ts'
import { showRuns } from '../../http/console/run-list.ts'
import { getExecution } from '../../tools/run/get-execution.ts'
import type { FeaturePages } from '../feature.ts'
import { cancelScheduled } from './scheduled-run.ts'

const LABEL = 'Scheduled runs'

export const scheduledRunPages: FeaturePages = {
  menu: { path: '/scheduled', label: LABEL, icon: 'clock', after: '/runs' },
  add(routes, broker) {
    routes.page('/scheduled', (on) =>
      showRuns(on, {
        path: '/scheduled',
        api: '/v1/scheduled_tools',
        title: LABEL,
        lead: 'Runs that will begin later, and those that have begun.',
        empty: 'Nothing is scheduled.',
        type: 'scheduled',
        statuses: EXECUTION_STATUSES,
        columns: {
          run_at: ['Begins', ({ run_at: at }) => at && exactTime(fromTimestamp(at))],
          duration: false,
        },
      }),
    )
    routes.form('/runs/:id/cancel', async (on) => {
      const { id, status } = await getExecution(broker, on.projectId, on.c.req.param('id') ?? '')
      if (status === 'cancelled') return on.go(`/runs/${id}`, 'It was cancelled already.')
      await cancelScheduled(broker, on.projectId, id)
      return on.go(`/runs/${id}`, 'It is cancelled.')
    })
  },
  ofRun: (on, { id, type, status }) =>
    type === 'scheduled'
      ? {
          list: [LABEL, '/scheduled'],
          controls:
            status === 'scheduled' ? on.form(`/runs/${id}/cancel`, submit('Cancel this run', 'danger')) : '',
        }
      : undefined,
}
