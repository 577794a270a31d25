import { Gatepass } from '@gatepass/sdk'

/** The whole main job of an application: `approver` stands for the user, who opens the link and approves. */
export async function mainJob({ baseUrl, apiKey, approver, user }) {
  const gatepass = new Gatepass({ baseUrl, apiKey })
  const consent = ({ url }) => fetch(approver, { method: 'POST', body: url })
  const first = await gatepass.as(user).tools.run('Demo.WhoAmI', {}, { consent })
  const again = await gatepass.tools.execute('Demo.WhoAmI', {}, { user })
  return JSON.stringify({ first, again: again.outcome })
}
