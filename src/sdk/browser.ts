import { GatepassConnect } from './browser/element.ts'

// For pages in a browser. Nothing here holds an API key: your own server makes a session for the user of the page. It is
// served by Gatepass too, as /embed/v1.js.

const { customElements } = globalThis
if (!customElements?.get('gatepass-connect')) customElements?.define('gatepass-connect', GatepassConnect)

export {
  type ConnectOptions,
  type ConnectSession,
  connect,
  type ResumeOptions,
  resume,
} from './browser/connect.ts'
export type { ConnectEnding, ConnectEvents } from './browser/events.ts'
