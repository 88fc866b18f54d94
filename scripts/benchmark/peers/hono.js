// The Zod schemas are the contract; the document would be generated from them.
import { serve } from '@hono/node-server'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { bearerAuth } from 'hono/bearer-auth'
import { host, isAccepted, keep, port } from './shared.js'

const Plant = z.object({ name: z.string(), tag: z.string().optional() }).openapi('Plant')
const NewPlant = Plant.extend({ id: z.number().int() }).openapi('NewPlant')
const Failure = z.object({ error: z.number().int(), message: z.string() }).openapi('Error')

const json = (schema, description) => ({ description, content: { 'application/json': { schema } } })

const route = createRoute({
  method: 'post',
  path: '/plants',
  security: [{ bearer: [] }],
  middleware: [bearerAuth({ verifyToken: (token) => isAccepted(`Bearer ${token}`) })],
  request: { body: { ...json(NewPlant, 'the plant'), required: true } },
  responses: { 200: json(Plant, 'kept'), 409: json(Failure, 'the id is taken') },
})

const app = new OpenAPIHono()
app.openapi(route, (context) => {
  const plant = context.req.valid('json')
  if (!keep(plant)) return context.json({ error: 40900, message: 'the id belongs to another plant' }, 409)
  return context.json({ name: plant.name, tag: plant.tag }, 200)
})

serve({ fetch: app.fetch, hostname: host, port })
