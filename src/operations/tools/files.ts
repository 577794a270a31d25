import { z } from '@hono/zod-openapi'
import { getFile as get } from '../../tools/stored-file.ts'
import { FileContent } from '../answer.ts'
import { defineOperation } from '../operation.ts'
import { idText } from '../schemas/fields.ts'

export const getFile = defineOperation({
  id: 'getFile',
  method: 'get',
  path: '/v1/files/{id}',
  role: 'caller',
  keysOfUsers: 'own',
  tag: 'Running tools',
  summary: 'A file that a tool answered',
  description:
    'The `url` of a result that is a file. The key that ran the tool can fetch it for an hour. It is sent as an attachment with its own media type.',
  params: z.object({ id: idText }),
  answer: 'The file',
  mediaType: 'application/octet-stream',
  output: z.string().meta({ format: 'binary' }),
  async run(broker, { params, caller }) {
    const { contentType, bytes, name } = await get(broker, caller.projectId, params.id)
    return new FileContent(contentType, bytes, name)
  },
})
