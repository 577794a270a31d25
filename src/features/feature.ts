import type { Broker } from '../broker.ts'
import type { Api } from '../cli/api.ts'
import type { CommandEntry } from '../cli/command-entry.ts'
import type { PlannedSimulation } from '../cli/simulated-server.ts'
import type { TrailCheck } from '../cli/trail-check.ts'
import type { WorkerOption } from '../cli/worker-option.ts'
import type { Config } from '../config.ts'
import type { Check, DiagnosisTarget } from '../diagnosis/check.ts'
import type { Brand } from '../domain/brand.ts'
import type { ExecutionRecord } from '../domain/execution.ts'
import type { WorkerType } from '../domain/worker.ts'
import type { Attention } from '../flows/console/attention.ts'
import type { MenuItem } from '../http/console/navigation.ts'
import type { ConsoleRoutes, OnPage } from '../http/console/routes.ts'
import type { RunAdditions } from '../http/console/run-list.ts'
import type { WorkerForm } from '../http/console/workers/worker-layout.ts'
import type { AddEndpoints, PageRoutes } from '../http/page-routes.ts'
import type { Fetch } from '../http/server/call-log.ts'
import type { AddedFormat } from '../operations/dialects/added-format.ts'
import type { WorkerTypeWire } from '../operations/worker-types/define.ts'
import type { BackgroundJob } from '../services/background-job.ts'
import type { CallApprovals } from '../services/call-approvals.ts'
import type { FeatureSettings } from '../services/feature-settings.ts'
import type { Openers } from '../services/openers.ts'
import type { StartObserver } from '../services/process-observer.ts'
import type { TrailIndex } from '../services/trail-index.ts'
import type { UseGate } from '../services/use-gate.ts'
import type { ProjectSites } from '../services/users-origin.ts'
import type { Sealer } from '../store/seal.ts'
import type { Store } from '../store/store.ts'
import type { StorePart } from '../store/store-part.ts'
import type { Backend } from '../tools/backend.ts'
import type { ToolSelections } from '../tools/catalogue/shown-tools.ts'
import type { RunLater } from '../tools/run/run-later.ts'

/**
 * A part of Gatepass that lies in one folder. The members except `commands` are loaded by `loadFeatures`, so that a
 * command loads only the modules that it uses.
 */
export interface Feature {
  /** The help lists each after the command `after`. */
  readonly commands?: readonly (CommandEntry & { readonly after: string })[]
  /** The commands below `of`, a command of the core. */
  readonly subcommands?: readonly (CommandEntry & { readonly of: string })[]
  /** Its tables, and what reads and writes them. */
  readonly store?: () => Promise<StorePart>
  /** The module that exports its operations. */
  readonly operations?: () => Promise<object>
  readonly pages?: () => Promise<FeaturePages>
  /** Adds endpoints of the API that need another token than an API key. */
  readonly endpoints?: () => Promise<AddEndpoints>
  /** What is served outside the API and the console. */
  readonly routes?: () => Promise<PageRoutes>
  /** Finds how the pages of a project look. */
  readonly look?: () => Promise<(store: Store, projectId: string) => Promise<Brand>>
  /** Opens the sites of projects. */
  readonly sites?: () => Promise<
    (store: Store, settings: { readonly publicUrl: URL }) => Promise<ProjectSites>
  >
  /** Knows the pages of applications from which authorizations are opened. */
  readonly openers?: () => Promise<(store: Store) => Openers>
  /** Wraps what answers all requests, for hosts that do not serve everything. The hot fetch asks `broker.sites` itself. */
  readonly serve?: () => Promise<
    <Env extends object>(fetch: Fetch<Env>, broker: Broker, usersPaths: readonly string[]) => Fetch<Env>
  >
  /** The path of the page on which users end what they have allowed. */
  readonly ownPage?: () => Promise<string>
  readonly jobs?: () => Promise<FeatureJobs>
  /** Only `gatepass dev --pack`: the services of these packs, simulated. `folder`: of the operator's own packs. */
  readonly simulation?: () => Promise<
    (ids: readonly string[], folder: string | undefined) => Promise<PlannedSimulation>
  >
  /** Selections of tools, which MCP clients reach at `/mcp/{id}`. */
  readonly toolSelections?: () => Promise<ToolSelections>
  /** Finds the address of such a selection, for `gatepass mcp`. */
  readonly selectionAddress?: () => Promise<(api: Api, id: string) => Promise<string>>
  /** Workers of a type of its own. */
  readonly workers?: () => Promise<FeatureWorkers>
  /** A format in which tools are listed. */
  readonly toolFormat?: () => Promise<AddedFormat>
  /** Runs a tool later, where a caller asks for that. */
  readonly runLater?: () => Promise<RunLater>
  /** Changes rows of an earlier release, before the installation signs its rows for the first time. */
  readonly upgrade?: () => Promise<(store: Store, sealer: Sealer) => Promise<void>>
  readonly settings?: () => Promise<FeatureSettings<unknown>>
  /** Observes a process from before its broker opens until after it closed. */
  readonly observer?: () => Promise<StartObserver>
  /** Registers metrics, once in each process. */
  readonly metrics?: () => Promise<(broker: Broker) => unknown>
  /** Finds entries of the audit trail. Only the first of the list is asked. */
  readonly trailIndex?: () => Promise<(parts: Pick<Broker, 'store' | 'now'>) => TrailIndex>
  /** An option of `gatepass audit verify`. */
  readonly trailCheck?: () => Promise<TrailCheck>
  /** Decides about uses of tokens. The gates of several features are asked in the order of the list. */
  readonly gate?: () => Promise<(parts: GateParts) => UseGate>
  /** Asks people before calls that rules want approved. Only the first of the list is asked. */
  readonly approvals?: () => Promise<
    (parts: Pick<Broker, 'store' | 'sealer' | 'audit' | 'now' | 'usersUrl' | 'liveness'>) => CallApprovals
  >
  /** The checks of `gatepass doctor` for one project. */
  readonly checks?: () => Promise<(target: DiagnosisTarget) => Promise<readonly Check[]>>
  /** The checks of the installation, which only its administrators see. */
  readonly installationChecks?: () => Promise<(config: Config) => Promise<readonly Check[]>>
  /** What needs attention, as the console's overview lists it. */
  readonly attention?: () => Promise<(broker: Broker, projectId: string) => Promise<readonly Attention[]>>
}

export interface FeatureWorkers {
  readonly type: WorkerType
  /** Speaks their protocol. */
  readonly backend: () => Promise<Backend>
  readonly wire: () => Promise<WorkerTypeWire>
  readonly form: Omit<WorkerForm, 'type'>
  readonly option: Omit<WorkerOption, 'kind'>
}

/** What a gate is made of. */
export type GateParts = Pick<
  Broker,
  'store' | 'outgoing' | 'sealer' | 'audit' | 'metrics' | 'log' | 'now' | 'tracing'
>

/**
 * Pages of the console, and their entry in its menu: after the one of the path `after`, or the first of the group of that
 * label.
 */
export interface FeaturePages {
  readonly menu: MenuItem & { readonly after: string }
  readonly add: (routes: ConsoleRoutes, broker: Broker) => void
  /** What the page of a run of the feature has: the list that it is in, and controls. */
  readonly ofRun?: (on: OnPage, run: ExecutionRecord) => RunAdditions | undefined
}

export interface FeatureJobs {
  /** Begins the work of one process. */
  readonly begin?: (broker: Broker) => FeatureWork
  /** The jobs that one process of a machine runs for all its processes. */
  readonly shared?: (broker: Broker) => readonly BackgroundJob[]
  /** Deletes records whose retention time has passed. */
  readonly sweep?: (broker: Broker) => Promise<unknown>
}

export interface FeatureWork {
  readonly jobs: readonly BackgroundJob[]
  /** Begins nothing more, and waits at most `ms` for what is under way. */
  close(ms: number): Promise<unknown>
}
