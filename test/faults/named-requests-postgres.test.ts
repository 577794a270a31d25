import { namedRequests } from './named-requests.ts'

namedRequests('PostgreSQL')
