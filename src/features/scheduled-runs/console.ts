import { fromTimestamp } from '../../domain/clock.ts'
import { EXECUTION_STATUSES, type ExecutionStatus } from '../../domain/execution.ts'
import { buttonLink, exactTime } from '../../http/console/elements.ts'
import { submit } from '../../http/console/form-fields.ts'
import { returnTo, rowDanger } from '../../http/console/row-actions.ts'
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
        lead: 'Runs that will start later, and those that have started.',
        empty: {
          title: 'Nothing is scheduled',
          text: 'A run that was asked for with a later time waits here. It begins by itself, with the tokens of its user.',
          next: buttonLink('/runs', 'Show all runs', { secondary: false }),
        },
        action: (on, { id, tool_id: tool, execution_status: status }) =>
          hasNotBegun(status)
            ? rowDanger(on, {
                action: `/runs/${id}/cancel`,
                text: 'Cancel',
                of: tool,
                says: 'It will not begin.',
                button: 'Cancel run',
                recent: false,
              })
            : '',
        type: 'scheduled',
        statuses: EXECUTION_STATUSES,
        columns: {
          run_at: ['Begins', ({ run_at: at }) => at && exactTime(fromTimestamp(at))],
          duration: false,
        },
      }),
    )
    routes.form('/runs/:id/cancel', async (on, form) => {
      const { id, status } = await getExecution(broker, on.projectId, on.c.req.param('id') ?? '')
      const to = returnTo(form, '/scheduled', `/runs/${id}`)
      if (status === 'cancelled') return on.go(to, 'It had already been canceled.')
      await cancelScheduled(broker, on.projectId, id)
      return on.go(to, 'It was canceled.')
    })
  },
  ofRun: (on, { id, type, status }) =>
    type === 'scheduled'
      ? {
          list: [LABEL, '/scheduled'],
          controls: hasNotBegun(status) ? on.form(`/runs/${id}/cancel`, submit('Cancel run', 'danger')) : '',
        }
      : undefined,
}

function hasNotBegun(status: ExecutionStatus): boolean {
  return status === 'scheduled' || status === 'waiting_for_approval'
}
