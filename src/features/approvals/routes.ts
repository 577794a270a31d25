import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { REMEMBER } from '../../domain/approval.ts'
import { BrokerError } from '../../domain/errors.ts'
import { LOGIN_TROUBLES } from '../../flows/identify-user.ts'
import { isFromOwnPage } from '../../http/connect/own-page.ts'
import { endSession, sendToSessionLogin } from '../../http/connect/session-login.ts'
import { endingOf, linkNotFound, wordsAndBrand } from '../../http/connect/show-authorization.ts'
import { siteOf } from '../../http/connect/site.ts'
import { bodyLimit } from '../../http/endpoint/body-limit.ts'
import { readForm } from '../../http/endpoint/read-form.ts'
import type { PageRoutes } from '../../http/page-routes.ts'
import { pageHeaders } from '../../http/pages/page-headers.ts'
import type { Text } from '../../http/pages/texts/text.ts'
import { csrfToken, isCsrfToken } from '../../services/csrf-token.ts'
import { inContext } from '../../services/request-context.ts'
import { APPROVE_PATH } from './approval-view.ts'
import { decideApproval } from './decide-approval.ts'
import { type Approval, approvalAt } from './domain.ts'
import { approvalStatePage, approvePage } from './page-approve.ts'
import { approvalsOfUser } from './page-own.ts'
import { isUnread, shownQuestion } from './page-question.ts'
import { stateWords } from './page-state.ts'
import { approvalTexts } from './page-texts.ts'
import { type DecidingUser, decidingUser } from './routes-user.ts'
import { openCall } from './shown-call.ts'
import { supersede } from './supersede.ts'
import { isStillSame } from './tool-still-same.ts'

/** The names of all arguments are sent, which may be as long as the arguments. */
const MAX_FORM_BYTES = 512 * 1024

export const approvalRoutes: PageRoutes = {
  paths: [`${APPROVE_PATH}/:id`],
  usersPaths: [`${APPROVE_PATH}/*`],
  ownPage: approvalsOfUser,
  add: addApprove,
}

/** The page on which users decide about calls that are made for them. Opening it decides nothing. */
function addApprove(app: OpenAPIHono, broker: Broker): void {
  const path = `${APPROVE_PATH}/:id` as const
  app.use(path, bodyLimit(MAX_FORM_BYTES))

  /** `undefined` at the domain of another project too. */
  async function find(c: Context): Promise<Approval | undefined> {
    const found = await broker.store.approvals.findById(c.req.param('id') ?? '')
    const { projectId = found?.projectId } = siteOf(c, broker)
    if (found === undefined || found.projectId !== projectId) return undefined
    return approvalAt(found, await broker.store.approvals.clock(projectId, broker.now()))
  }

  /** The state of the question, in other words for those who have decided, and with what was asked for its user. */
  async function state(c: Context, approval: Approval, userId?: string): Promise<Response> {
    const look = await wordsAndBrand(c, broker, approval)
    const isUser = userId !== undefined && userId === approval.userId
    const subject = isUser ? openCall(broker.sealer, 'approvals', approval)?.title : undefined
    if (c.res.headers.get('content-security-policy') === null) pageHeaders(c)
    const isApproved = /^(approved|used)$/.test(approval.status)
    return c.html(
      approvalStatePage({ ...look, ...stateWords(approval, look.words, userId), subject, isApproved }),
    )
  }

  /** Answers a browser whose user has nothing to decide here; `undefined`: its user is the one who is asked. */
  async function answerOthers(
    c: Context,
    approval: Approval,
    user: DecidingUser | undefined,
  ): Promise<Response | undefined> {
    const { verifier, development, publicUrl } = broker.settings
    const { projectId, userId } = approval
    const asksUser = approval.rules.some(({ by }) => typeof by === 'string')
    if (approval.status !== 'pending' || !asksUser) return state(c, approval, user?.userId)
    if (user === undefined && verifier.kind === 'open' && !development) {
      const look = await wordsAndBrand(c, broker, approval)
      pageHeaders(c)
      return c.html(approvalStatePage({ ...look, text: approvalTexts(look.words).cannotVerify }), 403)
    }
    if (user === undefined) {
      const trouble = LOGIN_TROUBLES.find((reason) => reason === c.req.query('login'))
      if (trouble === undefined) return sendToSessionLogin(c, broker, { projectId, returnTo: c.req.path })
      pageHeaders(c, { hasForm: true, formTo: [publicUrl] })
      return endingOf(c, broker, approval, { kind: `login_${trouble}`, again: c.req.path }, 200)
    }
    if (user.userId === userId) return undefined
    const look = await wordsAndBrand(c, broker, approval)
    pageHeaders(c, { hasForm: true })
    const text = approvalTexts(look.words).anotherUser
    const canLogIn = verifier.kind !== 'open' || development
    return c.html(
      approvalStatePage({ ...look, text, ...(canLogIn && { again: { action: c.req.path } }) }),
      403,
    )
  }

  async function ask(
    c: Context,
    approval: Approval,
    userId: string,
    problem?: (texts: ReturnType<typeof approvalTexts>) => Text,
  ): Promise<Response> {
    if (!(await isStillSame(broker, approval))) return state(c, await supersede(broker, approval), userId)
    const { id, use, digest } = approval
    const question = await shownQuestion(broker, approval)
    if (question === undefined) return state(c, approval, userId)
    const look = await wordsAndBrand(c, broker, approval)
    pageHeaders(c, { hasForm: true })
    const view = {
      ...look,
      question,
      use,
      userId,
      action: c.req.path,
      csrf: csrfToken(broker, 'form', id, userId),
      digest,
      showsAll: c.req.query('all') === '1',
    }
    const said = problem?.(approvalTexts(look.words))
    return c.html(approvePage({ ...view, problem: said }), said === undefined ? 200 : 400)
  }

  app.get(path, async (c) => {
    const approval = await find(c)
    if (approval === undefined) return linkNotFound(c)
    const user = await decidingUser(c, broker, approval)
    return (await answerOthers(c, approval, user)) ?? ask(c, approval, user?.userId ?? '')
  })

  app.post(path, async (c) => {
    const approval = await find(c)
    if (!isFromOwnPage(c, broker, { withoutHeaders: 'refused' }))
      return endingOf(c, broker, approval, { kind: 'foreign_click' }, 403)
    if (approval === undefined) return linkNotFound(c)
    const form = await readForm(c)
    const { id, projectId } = approval
    if (form.get('decision') === 'login') {
      await endSession(c, broker)
      return sendToSessionLogin(c, broker, { projectId, returnTo: c.req.path, prompt: 'login' })
    }
    const user = await decidingUser(c, broker, approval)
    const others = await answerOthers(c, approval, user)
    if (others !== undefined || user === undefined) return others ?? linkNotFound(c)
    const { userId, proof } = user
    const decision = form.get('decision') ?? ''
    const isMeant = ['approve', 'deny', 'block'].includes(decision)
    if (!isMeant || !isCsrfToken(form, csrfToken(broker, 'form', id, userId))) return ask(c, approval, userId)
    if (decision === 'approve' && (await isUnread(broker, approval, c.req.query('all') === '1')))
      return ask(c, approval, userId)
    try {
      const decided = await inContext({ actor: { kind: 'user', id: userId } }, () =>
        decideApproval(
          broker,
          { projectId, id },
          { id: userId, userId, proof },
          {
            decision: decision === 'approve' ? 'approve' : 'deny',
            digest: form.get('digest') ?? '',
            remember: REMEMBER.find((one) => one === form.get('remember')) ?? 'once',
            fixed: form.getAll('fixed'),
            blocks: decision === 'block',
          },
          (one) => isStillSame(broker, one),
        ),
      )
      return state(c, decided, userId)
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error
      if (error.code === 'invalid_request') return ask(c, approval, userId, ({ tickOne }) => tickOne)
      const now = await find(c)
      return now === undefined ? linkNotFound(c) : state(c, now, userId)
    }
  })
}
