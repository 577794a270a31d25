import { auditSearch, auditVerify } from './audit.ts'
import { begin } from './begin.ts'
import type { Bench } from './bench.ts'
import { callback } from './callback.ts'
import { coldFetch } from './cold-fetch.ts'
import { connection } from './connection.ts'
import { consolePages, consolePagesPostgres } from './console.ts'
import { databases } from './databases.ts'
import { execute, proxy } from './execute.ts'
import { hostileAnswers } from './hostile.ts'
import { largeWorker } from './large-worker.ts'
import { lists } from './lists.ts'
import { startOfMillion } from './many-start.ts'
import { overMcp } from './mcp.ts'
import { met } from './met.ts'
import { million, millionPostgres } from './million-fetch.ts'
import { peers } from './peers/peers.ts'
import { policies } from './policies.ts'
import { refreshStorm } from './refresh-storm.ts'
import type { Figure } from './report.ts'
import { schemas } from './schemas.ts'
import { soak } from './soak.ts'
import { startUp } from './start-up.ts'
import { storeFigures } from './store.ts'
import { sweep } from './sweep.ts'
import { toolsPages } from './tools-pages.ts'
import { traces } from './traces.ts'
import { waiterMemory } from './waiter-memory.ts'
import { wakeUp } from './wake-up.ts'
import { fetchBesideWriter, warmFetch } from './warm-fetch.ts'
import { webhooks } from './webhooks.ts'

/** By their names on the command line. */
export type Figures = Readonly<Record<string, (bench: Bench) => Promise<Figure[]>>>

/** In the order in which they are measured. */
export const FIGURES: Figures = {
  fetch: (bench) => warmFetch(bench, 'disk'),
  'fetch-memory': (bench) => warmFetch(bench, 'memory'),
  'fetch-writer': fetchBesideWriter,
  'fetch-cold': coldFetch,
  execute: (bench) => execute(bench, 'disk'),
  'execute-memory': (bench) => execute(bench, 'memory'),
  proxy: (bench) => proxy(bench, 'disk'),
  'proxy-memory': (bench) => proxy(bench, 'memory'),
  mcp: (bench) => overMcp(bench, 'disk'),
  'mcp-memory': (bench) => overMcp(bench, 'memory'),
  begin,
  callback,
  connection,
  policies,
  million,
  'million-postgres': millionPostgres,
  lists,
  'million-start': startOfMillion,
  'tools-pages': toolsPages,
  met,
  'large-worker': largeWorker,
  'audit-search': auditSearch,
  'audit-verify': auditVerify,
  sweep,
  storm: refreshStorm,
  wake: wakeUp,
  memory: waiterMemory,
  start: startUp,
}

/** Measured when they are named. */
export const FURTHER_FIGURES: Figures = {
  databases,
  hostile: hostileAnswers,
  schemas,
  store: storeFigures,
  peers,
  soak,
  traces,
  webhooks,
  console: consolePages,
  'console-postgres': consolePagesPostgres,
}
