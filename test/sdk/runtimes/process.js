import { mainJob } from './main-job.js'

const [, , options] = globalThis.process.argv
console.log(await mainJob(JSON.parse(options)))
