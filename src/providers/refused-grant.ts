/** Why a provider no longer honors a grant, where its words say it. */
export type RefusedBecause = 'expired' | 'withdrawn' | 'used_twice'

const SAID: Readonly<Record<RefusedBecause, RegExp>> = {
  expired: /(?:\b|_)expir/i,
  withdrawn: /\b(?:revoked|token_revoked|withdrawn|removed|uninstalled|de-?authorized|consent)\b/i,
  used_twice:
    /\b(?:re-?used?|already (?:been )?used|used (?:before|twice|more than once)|was used|rotated|replay(?:ed)?)\b/i,
}
/** Words that leave open which of several reasons it was. */
const OPEN = /\b(?:unknown|invalid|malformed),? or\b|\bor (?:unknown|invalid|malformed|inactive)\b/i

/**
 * The reason that the provider's description of `invalid_grant` names: the code alone covers every reason (RFC 6749
 * section 5.2). `undefined` if the description names several, as "expired or revoked" does, or none.
 */
export function refusedBecause(words: string | undefined): RefusedBecause | undefined {
  if (words === undefined || OPEN.test(words)) return undefined
  const reasons = Object.entries(SAID).filter(([, said]) => said.test(words))
  const [only] = reasons.length === 1 ? reasons : []
  return only?.[0] as RefusedBecause | undefined // a key of SAID
}
