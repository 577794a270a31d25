import { scheduledRuns } from './faults.ts'

scheduledRuns('PostgreSQL')
