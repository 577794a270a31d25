import { GatepassConnect } from './browser/element.ts'
import type { ConnectEvents } from './browser/events.ts'

// The module for pages in a browser; Gatepass serves it as /embed/v1.js too. It never has an API key: your own server
// creates a session for the user of the page.

const { customElements } = globalThis
if (!customElements?.get('gatepass-connect')) customElements?.define('gatepass-connect', GatepassConnect)

type ConnectEvent<Name extends keyof ConnectEvents> = CustomEvent<ConnectEvents[Name]>

declare global {
  interface HTMLElementTagNameMap {
    // not the class: in a program with two copies of this package it would be two types, which TypeScript refuses
    'gatepass-connect': HTMLElement
  }
  interface GlobalEventHandlersEventMap {
    'gatepass-open': ConnectEvent<'gatepass-open'>
    'gatepass-settled': ConnectEvent<'gatepass-settled'>
    'gatepass-blocked': ConnectEvent<'gatepass-blocked'>
    'gatepass-expired': ConnectEvent<'gatepass-expired'>
  }
}

export {
  type ConnectOptions,
  type ConnectSession,
  connect,
  type ResumeOptions,
  resume,
} from './browser/connect.ts'
export type { ConnectAttributes, GatepassConnect } from './browser/element.ts'
export type { ConnectEnding, ConnectEvents } from './browser/events.ts'
