import type * as Wire from '../generated/wire.ts'
import { withoutUndefined } from '../without-undefined.ts'
import type { PendingAuthorization } from './authorization.ts'
import { toRequired } from './authorizations.ts'
import type { RequiredAuthorization, RequiredSecret, RequiredWorker } from './tool.ts'
import type { Transport } from './transport.ts'

interface NeededBy {
  readonly met: boolean
  /** The ids of the tools that have this requirement. */
  readonly tools: readonly string[]
}

/** The requirements of several tools: each provider, secret and worker once. */
export interface SharedRequirements {
  readonly met: boolean
  readonly authorizations: readonly (RequiredAuthorization & NeededBy)[]
  readonly secrets: readonly (RequiredSecret & NeededBy)[]
  readonly workers: readonly (RequiredWorker & NeededBy)[]
  /** One link for all missing consents, if the request asked to authorize them. */
  readonly authorization?: PendingAuthorization
}

export function toSharedRequirements(
  transport: Transport,
  wire: Wire.SharedRequirements,
): SharedRequirements {
  const { authorization_id: id, url } = wire
  const authorizations = Object.entries(wire.authorization.items).map(([provider, item]) =>
    withoutUndefined({
      ...common(item),
      provider,
      scopes: item.scopes,
      status: item.status,
      consent: item.token_status,
    }),
  )
  const missing = authorizations.filter(({ met }) => !met).flatMap(({ scopes }) => scopes)
  return {
    met: wire.met,
    authorizations,
    secrets: Object.entries(wire.secrets.items).map(([key, item]) => ({ ...common(item), key })),
    workers: Object.entries(wire.workers.items).map(([worker, item]) => ({
      ...common(item),
      id: worker,
      status: item.status,
    })),
    ...(id !== undefined &&
      url !== undefined && {
        authorization: toRequired(transport, { id, url, scopes: [...new Set(missing)] }),
      }),
  }
}

function common(item: Wire.SharedProvider | Wire.SharedSecret | Wire.SharedWorker) {
  const { met, tool_names: tools, status_reason: statusReason } = item
  return withoutUndefined({ met, tools, statusReason })
}
