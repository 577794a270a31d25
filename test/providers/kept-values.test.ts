import { expect, test } from 'vitest'
import { collectValues, keptValuesOf } from '../../src/providers/kept-values.ts'

const keeping = (
  from: 'authorization_response' | 'token_response' | 'user_info',
  pattern = 'https://.*',
) => ({
  keptValues: { host: { from, at: 'host', pattern } },
})

test('a value is kept by where it was told: another definition does not take it from elsewhere', () => {
  const told = collectValues(keeping('authorization_response'), {
    authorizationResponse: new URLSearchParams({ host: 'https://a.example' }),
  })
  expect(keptValuesOf(keeping('authorization_response'), told)).toEqual({ host: 'https://a.example' })
  expect(keptValuesOf(keeping('token_response'), told)).toEqual({})
  expect(keptValuesOf(keeping('user_info'), told)).toEqual({})
  expect(keptValuesOf(keeping('authorization_response', 'http://.*'), told)).toEqual({})
})

test('a parameter that the browser brings twice is not kept', () => {
  const authorizationResponse = new URLSearchParams('host=https://a.example&host=https://b.example')
  expect(collectValues(keeping('authorization_response'), { authorizationResponse })).toBeUndefined()
})
