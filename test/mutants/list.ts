import { featureParts } from '../feature-parts.ts'
import { assertions } from './list/assertions.ts'
import { callers } from './list/callers.ts'
import { consent } from './list/consent.ts'
import { operatorsConsole } from './list/console.ts'
import { device } from './list/device.ts'
import { distributed } from './list/distributed.ts'
import { dpop } from './list/dpop.ts'
import { eachFile } from './list/each-file.ts'
import { egress } from './list/egress.ts'
import { exchange } from './list/exchange.ts'
import { headers } from './list/headers.ts'
import { identity } from './list/identity.ts'
import { interoperability } from './list/interoperability.ts'
import { nodes } from './list/nodes.ts'
import { parts } from './list/parts.ts'
import { pins } from './list/pins.ts'
import { portal } from './list/portal.ts'
import { python } from './list/python.ts'
import { requests } from './list/requests.ts'
import { storage } from './list/storage.ts'
import { tenants } from './list/tenants.ts'
import { tokens } from './list/tokens.ts'
import { tools } from './list/tools.ts'
import { wire } from './list/wire.ts'
import { workers } from './list/workers.ts'
import type { Mutation } from './mutation.ts'

const ofFeatures = await featureParts<readonly Mutation[]>('mutants')

/** Every mutation. `npm run mutants` applies them one at a time. */
export const mutations: readonly Mutation[] = [
  ...assertions,
  ...exchange,
  ...callers,
  ...consent,
  ...device,
  ...dpop,
  ...tenants,
  ...headers,
  ...interoperability,
  ...identity,
  ...tokens,
  ...requests,
  ...tools,
  ...egress,
  ...storage,
  ...distributed,
  ...nodes,
  ...workers,
  ...pins,
  ...wire,
  ...python,
  ...operatorsConsole,
  ...portal,
  ...parts,
  ...eachFile,
  ...ofFeatures.flat(),
]
