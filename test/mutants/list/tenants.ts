import type { Mutation } from '../mutation.ts'

const TEST = 'flows/tenant-choice.test.ts'

/** The choice of a tenant after a user's approval. */
export const tenants: readonly Mutation[] = [
  {
    rows: ['87'],
    fault:
      'the state of the approval goes on, so that the browser’s own response takes the place of the choice',
    file: 'src/flows/offer-choice.ts',
    from: 'stateHash: ownedTokenHash(state),',
    to: 'stateHash: isInstalledFirst ? ownedTokenHash(state) : claimed.attempt.stateHash,',
    test: TEST,
    name: 'no response of the provider takes the place of the choice',
  },
  {
    rows: ['87'],
    fault: 'the grant that waits is not sealed',
    file: 'src/flows/held-grant.ts',
    from: "return sealer.seal(JSON.stringify(held), sealingContext('authorizations', 'response', authorization))",
    to: "if (response) return JSON.stringify(held) as Sealed\n  return sealer.seal(JSON.stringify(held), sealingContext('authorizations', 'response', authorization))",
    test: TEST,
    name: 'tokens that wait are in no URL',
  },
  {
    rows: ['87'],
    fault: 'the grant that waited for a choice outlives its link',
    file: 'src/flows/held-grant.ts',
    from: 'const isHeld = isDeviceGrant(entry.provider) || secrets.choice !== undefined',
    to: 'const isHeld = isDeviceGrant(entry.provider)',
    test: TEST,
    name: 'when the link expires',
  },
  {
    rows: ['87'],
    fault: 'a new click leaves the grant that waits alive',
    file: 'src/flows/start-attempt.ts',
    from: 'if (before !== undefined) await revokeHeldGrant(broker, before)',
    to: 'if (before === undefined) return notStartable(broker, authorization)',
    test: TEST,
    name: 'when the user approves once more',
  },
  {
    rows: ['87'],
    fault: 'erasing a user leaves the grant that waits alive',
    file: 'src/flows/erase-user.ts',
    from: 'await revokeAll(broker, held) // after',
    to: '// after',
    test: TEST,
    name: 'when the user is erased',
  },
  {
    rows: ['87'],
    fault: 'deleting an entry leaves the grants that wait alive',
    file: 'src/flows/manage-providers.ts',
    from: 'if (entry !== undefined) await revokeAll(',
    to: 'if (entry === undefined) await revokeAll(',
    test: TEST,
    name: 'when the entry is deleted',
  },
  {
    rows: ['87'],
    fault: 'a grant that waits is revoked although a connection of the same person may share it',
    file: 'src/flows/revoke-grant.ts',
    from: '(hasTenants && mayBeOnePerson(grant.account.id, tenant, account.id))',
    to: '(hasTenants && grant.account.id === account.id)',
    test: TEST,
    name: 'unless it may be that of a connection of the user',
  },
  {
    rows: ['87'],
    fault: 'a value that its pattern does not allow is offered',
    file: 'src/providers/offered-list.ts',
    from: 'const isWhole = wanted.every((name) => values[name] !== undefined)',
    to: 'const isWhole = wanted.length > 0 && values !== undefined',
    test: TEST,
    name: 'a tenant whose value is not allowed is not offered',
  },
  {
    rows: ['87'],
    fault: 'a token that the list repeats is shown',
    file: 'src/providers/offered-list.ts',
    from: 'for (const item of withoutSecrets(items, secrets)) {',
    to: 'for (const item of withoutSecrets(items, secrets.slice(9))) {',
    test: TEST,
    name: 'a tenant whose name repeats the token',
  },
]
