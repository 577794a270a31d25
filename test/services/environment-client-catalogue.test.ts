import { expect, test } from 'vitest'
import { createDefinitions } from '../../src/providers/catalogue/definitions.ts'
import { builtIn, builtInIds } from '../../src/providers/catalogue/registry.ts'
import type { ProviderEntry } from '../../src/providers/provider-entry.ts'
import { fillUrl } from '../../src/providers/variables.ts'
import { environmentClientOf, environmentName } from '../../src/services/environment-client.ts'

// To which providers of the catalogue the environment's client goes without an administrator's confirmation.

const definitions = createDefinitions()

function isAllowed(id: string): boolean {
  const definition = builtIn(id)
  if (definition === undefined) throw new Error(`${id} is not in the catalogue`)
  const entry: ProviderEntry = {
    uid: 'prov_1',
    projectId: 'proj_1',
    id,
    name: id,
    status: 'active',
    source: 'metadata',
    provider: definition.provider,
    createdAt: 1,
    updatedAt: 1,
  }
  const clients = new Map([[environmentName(id), { clientId: 'c', clientSecret: 's' }]])
  return environmentClientOf(clients, entry, definitions)?.allowed === true
}

/** Whether any value, of the operator's or of a response, may be in the host of an endpoint to which the secret or a token goes. */
function hasOpenHost(id: string): boolean {
  const { provider } = builtIn(id) ?? {}
  const entered = Object.entries(provider?.variables ?? {}).filter(([, { isExample }]) => isExample === true)
  const open = [...entered, ...Object.entries(provider?.keptValues ?? {})]
    .filter(([, { oneOf }]) => oneOf === undefined)
    .map(([name]) => name)
  const { authorizationRequest, tokenRequest, refreshRequest, userInfoRequest, revocationRequest } =
    provider ?? {}
  return [authorizationRequest, tokenRequest, refreshRequest, userInfoRequest, revocationRequest]
    .map((block) => block?.endpointTemplate?.split('/')[2] ?? '')
    .some((host) => open.some((name) => host.includes(`{{${name}}}`)))
}

test('a host that an outsider can have, or endpoints that are unverified, want a confirmation', () => {
  const wrong = builtInIds().filter((id) => {
    const { facts, provider } = builtIn(id) ?? {}
    // users who type credentials need no client
    const isSafe = facts?.verified === true && provider?.credentials === undefined && !hasOpenHost(id)
    return isAllowed(id) !== isSafe
  })
  expect(wrong).toEqual([])
})

test.each([
  ['zendesk', false],
  ['shopify', false],
  ['keycloak', false],
  ['untappd', false], // unverified
  ['github', true],
  ['microsoft', true], // the tenant is in the path
  ['intercom', true], // its regions are listed
])('%s: %j without a confirmation', (id, allowed) => {
  expect(fillUrl(builtIn(id)?.provider.tokenRequest?.endpoint ?? '', undefined)).toMatch(/^https:/)
  expect(isAllowed(id)).toBe(allowed)
})
