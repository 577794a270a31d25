import { domainToASCII } from 'node:url'

/** The first label in the name of the TXT record that proves control of the domain. */
const CHALLENGE_LABEL = '_gatepass-challenge'
/** The beginning of the TXT record's value, which shows people what the record is for. */
const CHALLENGE_PREFIX = 'gatepass-domain='
/** A name has at most 253 characters (RFC 1035 section 2.3.4), and the record's name is longer than the domain's. */
const MAX_NAME = 253 - CHALLENGE_LABEL.length - 1
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

export type ReadDomainName = { readonly name: string } | { readonly fault: string }

/** Reads a DNS name. The result is in lower case, with international letters as punycode (RFC 3492). */
export function readDomainName(text: string): ReadDomainName {
  if (/[/:@?#\\\s]/.test(text))
    return { fault: 'must be a host name alone, such as auth.acme.example, without scheme, port, or path' }
  if (text.endsWith('.')) return { fault: 'must not end with a dot' }
  const name = domainToASCII(text)
  const labels = name.split('.')
  if (!labels.every((label) => LABEL.test(label)))
    return { fault: 'must be a host name such as auth.acme.example: labels of letters, digits, and hyphens' }
  if (labels.length < 2)
    return { fault: 'must have a dot, as auth.acme.example has: a single label is in no public DNS' }
  // an address in any spelling; top-level domains are not numeric (RFC 3696 section 2)
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return { fault: 'must be a name, not an IP address' }
  if (name.length > MAX_NAME) return { fault: `must have at most ${MAX_NAME} characters` }
  return { name }
}

/** The DNS record whose publication proves control of a domain. */
export interface ChallengeRecord {
  readonly type: 'TXT'
  readonly name: string
  readonly value: string
}

/** The record that the owner of the domain has to publish. */
export function challengeRecord({
  name,
  challenge,
}: {
  readonly name: string
  readonly challenge: string
}): ChallengeRecord {
  return { type: 'TXT', name: `${CHALLENGE_LABEL}.${name}`, value: `${CHALLENGE_PREFIX}${challenge}` }
}
