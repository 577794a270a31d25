import { attempt, given, type Refused } from '../../http/console/form-outcome.ts'
import { perform } from '../../http/console/perform.ts'
import type { ConsoleRoutes, OnPage } from '../../http/console/routes.ts'
import { DOMAIN_SECTION, type RefusedDomain } from './console-domain.ts'
import { changeBranding, verifyDomain } from './operations.ts'

const ownProject = ({ projectId }: OnPage) => ({ id: projectId })

/**
 * The forms that set, prove and remove the project's domain. Each requires a recent login, because browsers of users,
 * with authorization codes, are sent to the domain.
 *
 * @param show renders the page with these forms again, with the reason why one was refused
 */
export function addDomainForms(
  routes: ConsoleRoutes,
  show: (on: OnPage, refused: RefusedDomain, status: Refused['status']) => Promise<Response>,
): void {
  const recent = { recent: true }

  routes.form(
    '/branding/domain',
    async (on, form) => {
      const value = given(form, 'domain') ?? ''
      const body = { domain: value }
      const done = await attempt(() => perform(on, changeBranding, { params: ownProject(on), body }))
      if (done.outcome === 'refused') return show(on, { value, fault: done.message }, done.status)
      return on.go(
        DOMAIN_SECTION,
        `${done.result.domain?.name} is the domain of the project. Users see it once it is proved.`,
      )
    },
    recent,
  )

  routes.form(
    '/branding/domain/verify',
    async (on) => {
      const done = await attempt(() => perform(on, verifyDomain, { params: ownProject(on) }))
      if (done.outcome === 'refused') return show(on, { problem: done.message }, done.status)
      return on.go(DOMAIN_SECTION, 'The TXT record was found. Users now see the pages at the domain.')
    },
    recent,
  )

  routes.form(
    '/branding/domain/remove',
    async (on) => {
      await perform(on, changeBranding, { params: ownProject(on), body: { domain: null } })
      return on.go(DOMAIN_SECTION, 'The domain was removed. Users now see the pages at the public URL.')
    },
    recent,
  )
}
