import { z } from '@hono/zod-openapi'
import type { Broker } from '../../../broker.ts'
import { proveDomain, setDomain } from '../../../flows/own-domain.ts'
import { domainText } from '../../../operations/admin/branding-domain.ts'
import { parseOnce } from '../../../parsing/parse.ts'
import { attempt, given, type Refused } from '../attempt.ts'
import type { ConsoleRoutes, OnPage } from '../routes.ts'
import { DOMAIN_SECTION, type RefusedDomain } from './domain-section.ts'

const formSchema = z.strictObject({ domain: domainText })

/**
 * The forms that set, prove and remove the project's domain. Each requires a recent login, because browsers of users,
 * with authorization codes, are sent to the domain.
 *
 * @param show renders the page with these forms again, with the reason why one was refused
 */
export function addDomainForms(
  routes: ConsoleRoutes,
  broker: Broker,
  show: (on: OnPage, refused: RefusedDomain, status: Refused['status']) => Promise<Response>,
): void {
  const recent = { recent: true }

  routes.form(
    '/branding/domain',
    async (on, form) => {
      const value = given(form, 'domain') ?? ''
      const done = await attempt(async () => {
        const { domain } = parseOnce(formSchema, { domain: value }, 'the body')
        await setDomain(broker, on.projectId, domain)
        return domain
      })
      if (done.outcome === 'refused') return show(on, { value, fault: done.message }, done.status)
      return on.go(
        DOMAIN_SECTION,
        `${done.result} is the domain of the project. Users see it once it is proved.`,
      )
    },
    recent,
  )

  routes.form(
    '/branding/domain/verify',
    async (on) => {
      const done = await attempt(() => proveDomain(broker, on.projectId))
      if (done.outcome === 'refused') return show(on, { problem: done.message }, done.status)
      return on.go(DOMAIN_SECTION, 'The TXT record is there: users see the pages at the domain.')
    },
    recent,
  )

  routes.form(
    '/branding/domain/remove',
    async (on) => {
      await setDomain(broker, on.projectId, null)
      return on.go(DOMAIN_SECTION, 'The domain was removed: users see the pages at the public URL.')
    },
    recent,
  )
}
