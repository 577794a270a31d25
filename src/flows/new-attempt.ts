import type { Broker } from '../broker.ts'
import type { Attempt, AttemptSecrets, Authorization } from '../domain/authorization.ts'
import { ownedTokenHash, sha256 } from '../domain/ids.ts'
import { sealingContext } from '../store/protected-tables.ts'

/** The attempt of a click that happens now, bound to the browser. `state`: found again by its hash. */
export function newAttempt(
  { sealer, now }: Pick<Broker, 'sealer' | 'now'>,
  authorization: Authorization,
  {
    state,
    browserId,
    secrets,
  }: { readonly state: string; readonly browserId: string; readonly secrets: AttemptSecrets },
): Attempt {
  return {
    stateHash: ownedTokenHash(state),
    browserHash: sha256(browserId),
    secrets: sealer.seal(JSON.stringify(secrets), sealingContext('authorizations', 'secrets', authorization)),
    startedAt: now(),
  }
}
