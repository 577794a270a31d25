import { scheduledRuns } from './scheduled.ts'

scheduledRuns('PostgreSQL')
