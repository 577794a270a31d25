import type { Authorization } from '../domain/authorization.ts'

/** Returns the browser's proof that it has opened this session of a page, if it has one. */
export type OpenerOf = (connectSessionId: string) => string | undefined

/** The pages of applications from which browsers open authorizations; such an authorization has a `connectSessionId`. */
export interface Openers {
  /**
   * Where this browser has opened the authorization: in a window of its own, which closes itself at the end, or in the
   * tab of the page. `undefined`: it has not.
   */
  openedIn(
    authorization: Pick<Authorization, 'connectSessionId'>,
    openerOf: OpenerOf,
  ): Promise<'popup' | 'tab' | undefined>
  /** The origin of the page, where its user can begin again. */
  originOf(connectSessionId: string): Promise<string | undefined>
}

export const NO_OPENERS: Openers = { openedIn: async () => undefined, originOf: async () => undefined }

/** Whether this browser may click. If a page of an application opens the authorization, only the browser that opened it may. */
export async function mayClick(
  { openers }: { readonly openers: Openers },
  authorization: Pick<Authorization, 'connectSessionId'>,
  openerOf: OpenerOf,
): Promise<boolean> {
  if (authorization.connectSessionId === undefined) return true
  return (await openers.openedIn(authorization, openerOf)) !== undefined
}
