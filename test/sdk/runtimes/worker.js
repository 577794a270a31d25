import { mainJob } from './main-job.js'

export default {
  fetch: async (request) => new Response(await mainJob(await request.json())),
}
