import type { FeaturePages } from '../feature.ts'
import { addCallPage } from './console-call.ts'
import { addInbox } from './console-inbox.ts'
import { addStandingPages } from './console-standing.ts'

/** Calls that wait for an approval: groups of approvers decide about theirs here, and operators see all of the project. */
export const approvalPages: FeaturePages = {
  menu: { path: '/approvals', label: 'Approvals', icon: 'check', after: '/runs' },
  add(routes, broker) {
    addInbox(routes, broker)
    addStandingPages(routes, broker) // before the page of a call, whose path is a pattern
    addCallPage(routes, broker)
  },
}
