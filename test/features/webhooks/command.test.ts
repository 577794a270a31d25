import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Installation, install } from '../../cli/gatepass.ts'
import { type Receiver, startReceiver } from './receiver.ts'

let gatepass: Installation
let receiver: Receiver
beforeAll(async () => {
  gatepass = await install()
  receiver = await startReceiver()
  await gatepass.startWith({ env }, 'dev', '--commands').prints(/\bgp_[\w-]{43}\b/)
})
afterAll(async () => {
  await gatepass[Symbol.asyncDispose]()
  await receiver.close()
})

const env = { GATEPASS_ALLOWED_HOSTS: '127.0.0.1' }
const run = (...words: string[]) => gatepass.runHereWith({ env }, 'webhooks', ...words)
const json = async (...words: string[]) => JSON.parse((await run(...words, '--json')).stdout)

test('a webhook is registered, tested, changed, rotated, replayed and deleted', async () => {
  expect((await run()).stdout).toMatch(/^No webhooks/)
  const types = 'connection.created,connection.deleted'
  const added = await run('add', `${receiver.url}/hook`, '--types', types, '--description', 'The app')
  expect(added).toMatchObject({ code: 0, stderr: '' })
  const [, secret = ''] = /(whsec_\S+)/.exec(added.stdout) ?? []
  const [, id = ''] = /(wh_[0-9a-f]+) is registered/.exec(added.stdout) ?? []
  receiver.secret = secret

  expect((await run()).stdout).toMatch(new RegExp(`${id} +active +${receiver.url}/hook .*The app`))
  expect(await run('test', id)).toMatchObject({ code: 0, stdout: expect.stringContaining('answered 204') })
  expect(receiver.taken).toMatchObject([{ type: 'webhook.test' }])
  receiver.answer = () => 500
  const refused = await run('test', id)
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('answered 500') })

  const rotated = await json('rotate', id, '--overlap', '60')
  expect(rotated).toMatchObject({ id, secret: expect.stringMatching(/^whsec_/) })
  expect(rotated.secret).not.toBe(secret)
  expect(await json('set', id, '--types', 'all', '--disable')).toMatchObject({ state: 'disabled' })
  expect((await run('show', id)).stdout).toMatch(/events +all\n.*disabled by an administrator/)
  expect(await run('replay', id)).toMatchObject({ code: 2, stderr: expect.stringContaining('disabled') })
  await run('set', id, '--enable')
  expect(await json('replay', id, '--only-failed')).toEqual({ replayed: 0 })
  expect((await run('deliveries', id)).stdout).toBe('No deliveries.\n')
  expect(await run('set', id)).toMatchObject({ code: 2, stderr: expect.stringContaining('--types') })
  const all = await json('add', `${receiver.url}/all`, '--types', 'all')
  expect(all).not.toHaveProperty('types')
  await run('delete', all.id)
  expect(await run('add', receiver.url, '--types', 'made.up')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no "made.up"'),
  })
  expect(await json('delete', id)).toEqual({ id, deleted: true })
  expect(await run('show', id)).toMatchObject({ code: 3, stdout: '' })
})
