import Database from 'better-sqlite3'
import { sha256 } from '../src/domain/ids.ts'
import { startGatepass } from './gatepass.ts'
import { API_KEY, authorizeBody, userName } from './people.ts'
import { connect, rawRequest } from './raw-client.ts'
import { databaseIn } from './seed.ts'
import { click } from './wake-up.ts'

type Row = { readonly [column: string]: string | number | null }

/** Adds `count` completed authorizations: makes a real one, and copies its row under other ids. */
export async function addAuthorizations(folder: string, providerUid: string, count: number): Promise<void> {
  {
    await using gatepass = await startGatepass(folder)
    const { port } = gatepass
    const browser = await connect(port)
    const headers = { authorization: `Bearer ${API_KEY}` }
    const body = authorizeBody('somebody-new@example.com')
    const begun = await browser.send(
      rawRequest(port, { method: 'POST', path: '/v1/auth/authorize', headers, body }),
    )
    const { state, cookie } = await click(port, browser, { id: JSON.parse(begun.body.toString()).id })
    const path = `/callback/${providerUid}?state=${state}&code=code`
    const back = await browser.send(rawRequest(port, { method: 'GET', path, headers: { cookie } }))
    browser.close()
    if (back.status !== 303) throw new Error(`the callback answered ${back.status}`)
  }
  const client = new Database(databaseIn(folder))
  const row = client.prepare("select * from authorizations where status = 'completed'").get() as Row
  const columns = Object.keys(row)
  const insert = client.prepare(
    `insert into authorizations (${columns.join()}) values (${columns.map((one) => `@${one}`).join()})`,
  )
  client.transaction(() => {
    for (let i = 1; i < count; i++)
      insert.run({
        ...row,
        id: `auth_${i.toString(16).padStart(32, '0')}`,
        user_id: userName(i),
        state_hash: row.state_hash && sha256(`state ${i}`),
        flow_hash: row.flow_hash && sha256(`flow ${i}`),
      })
  })()
  client.close()
}
