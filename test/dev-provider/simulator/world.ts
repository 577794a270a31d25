import type { SimulatedGatepass } from '../../../src/dev-provider/simulator/simulated-gatepass.ts'
import { simulatedOutgoing } from '../../../src/dev-provider/simulator/simulated-outgoing.ts'
import { pollDevices } from '../../../src/flows/device/poll-devices.ts'
import { startGatepass, testClock } from '../../gatepass.ts'

/** A Gatepass over HTTP whose outgoing requests are answered by simulators. */
export async function startSimulated(): Promise<SimulatedGatepass & AsyncDisposable> {
  const clock = testClock(Math.floor(Date.now() / 1000))
  const outgoing = simulatedOutgoing()
  const environment = { GATEPASS_CONNECT_PAGE: 'pass' }
  const gatepass = await startGatepass({ now: clock, outgoing, environment })
  return {
    outgoing,
    clock,
    poll: () => pollDevices(gatepass.broker),
    call: (method, path, body, headers = {}) => gatepass.call(method, path, body, { headers }),
    browse: (url, { cookie, form }) =>
      fetch(url, {
        redirect: 'manual',
        headers: {
          ...(cookie !== undefined && { cookie }),
          ...(form !== undefined && {
            'content-type': 'application/x-www-form-urlencoded',
            origin: new URL(url).origin,
          }),
        },
        ...(form !== undefined && { method: 'POST', body: form }),
      }),
    [Symbol.asyncDispose]: () => gatepass.close(),
  }
}
