import { mainJob } from './main-job.js'

export default {
  fetch: async (request) =>
    new Response(request.method === 'GET' ? 'ready' : await mainJob(await request.json())),
}
