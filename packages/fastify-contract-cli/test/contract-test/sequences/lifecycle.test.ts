import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { documentOf, testApplication } from '../test-application.ts'

const json = (schema: object) => ({ description: 'ok', content: { 'application/json': { schema } } })
const pet = {
  type: 'object',
  required: ['id', 'name'],
  properties: {
    id: { type: 'integer', minimum: 1, readOnly: true },
    name: { type: 'string', minLength: 1, maxLength: 10 },
  },
}
const problem = json({ type: 'object', properties: { message: { type: 'string' } } })
const petId = { name: 'petId', in: 'path', required: true, schema: { type: 'integer', minimum: 1, maximum: 1_000 } }
const body = { required: true, content: { 'application/json': { schema: pet } } }
const missing = { 400: problem, 404: problem }

const paths = {
  '/pets': {
    post: {
      operationId: 'createPet',
      requestBody: body,
      responses: {
        201: { ...json(pet), links: { Get: { operationId: 'getPet', parameters: { petId: '$response.body#/id' } } } },
        400: problem,
      },
    },
  },
  '/pets/{petId}': {
    parameters: [petId],
    get: { operationId: 'getPet', responses: { 200: json(pet), ...missing } },
    put: { operationId: 'replacePet', requestBody: body, responses: { 200: json(pet), ...missing } },
    delete: { operationId: 'deletePet', responses: { 204: { description: 'gone' }, ...missing } },
  },
}
const document = documentOf(paths)

type Pet = { id: number; name: string }
type Store = {
  pets: Map<number, Pet>
  create(pet: Pet): void
  replace(pet: Pet): void
  remove(id: number): void
  accepts(name: unknown): boolean
}

/** Returns an application with a store that a fault changes. */
function application(fault: (store: Store) => void = () => {}): FastifyInstance {
  const pets = new Map<number, Pet>()
  const store: Store = {
    pets,
    create: (pet) => void pets.set(pet.id, pet),
    replace: (pet) => void pets.set(pet.id, pet),
    remove: (id) => void pets.delete(id),
    accepts: (name) => typeof name === 'string' && name.length > 0 && [...name].length <= 10,
  }
  fault(store)
  let next = 1
  const app = Fastify()
  const nameOf = (sent: unknown) => (sent as Partial<Pet> | null)?.name as string
  const idOf = (params: unknown) => {
    const { petId } = params as { petId: string }
    return /^[1-9]\d*$/.test(petId) && Number(petId) <= 1_000 ? Number(petId) : undefined
  }
  app.post('/pets', (request, reply) => {
    if (!store.accepts(nameOf(request.body))) return reply.code(400).send({ message: 'name' })
    const pet = { id: next++, name: nameOf(request.body) }
    store.create(pet)
    return reply.code(201).send(pet)
  })
  app.get('/pets/:petId', (request, reply) => {
    const id = idOf(request.params)
    if (id === undefined) return reply.code(400).send({ message: 'id' })
    return pets.get(id) ?? reply.code(404).send({ message: 'no such pet' })
  })
  app.put('/pets/:petId', (request, reply) => {
    const id = idOf(request.params)
    const name = nameOf(request.body)
    if (id !== undefined && !store.accepts(name) && isStoredFirst(name)) store.replace({ id, name: 'spoiled' })
    if (id === undefined || !store.accepts(name)) return reply.code(400).send({ message: 'invalid' })
    if (!pets.has(id)) return reply.code(404).send({ message: 'no such pet' })
    store.replace({ id, name })
    return { id, name }
  })
  app.delete('/pets/:petId', (request, reply) => {
    const id = idOf(request.params)
    if (id === undefined) return reply.code(400).send({ message: 'id' })
    if (!pets.has(id)) return reply.code(404).send({ message: 'no such pet' })
    store.remove(id)
    return reply.code(204).send()
  })
  return app
}
const isNeverStored = (_name: unknown): boolean => false
let isStoredFirst = isNeverStored
t.afterEach(() => {
  isStoredFirst = isNeverStored
})

t.test('a right application passes, and each of its operations accepts a request', async (t) => {
  const { failures, operations, checks } = await testApplication(application(), document)
  t.same(failures, [])
  t.same(
    operations.flatMap(({ untested }) => untested ?? []),
    [],
  )
  t.ok(checks.every(({ failures }) => failures === 0))
})

const faults: Record<string, [string, (store: Store) => unknown]> = {
  'a create that stores nothing': ['created-is-readable', (store) => Object.assign(store, { create: () => {} })],
  'a create that stores another value': [
    'written-is-read',
    (store) => Object.assign(store, { create: ({ id }: Pet) => void store.pets.set(id, { id, name: 'unnamed' }) }),
  ],
  'a change that stores nothing': ['written-is-read', (store) => Object.assign(store, { replace: () => {} })],
  'a removal that keeps the resource': ['deleted-is-gone', (store) => Object.assign(store, { remove: () => {} })],
  'a rejected change that is stored': [
    'rejection-changes-nothing',
    () => {
      isStoredFirst = () => true
    },
  ],
  'a change that is stored before the length of a text is validated': [
    'rejection-changes-nothing',
    () => {
      isStoredFirst = (name) => typeof name === 'string' && name.length > 10
    },
  ],
}

for (const [title, [check, fault]] of Object.entries(faults))
  t.test(`${title} fails ${check}`, async (t) => {
    const { failures } = await testApplication(application(fault), document, { requests: 200 })
    const [failure] = failures.filter((one) => one.check === check)
    t.ok(failure, JSON.stringify(failures.map(({ check, expected, got }) => [check, expected, got])))
    t.equal(failure?.earlier[0]?.method, 'POST', 'the request that created the resource is shown')
  })

/** Returns how often a resource was looked for where a link of its creation, or its path, says. */
async function looksByLink(target: object): Promise<number | undefined> {
  const { post } = paths['/pets']
  const links = { Get: { ...target, parameters: { petId: '$response.body#/id' } } }
  const linked = documentOf({
    '/pets': { post: { ...post, responses: { ...post.responses, 201: { ...json(pet), links } } } },
    '/pets/{petId}': { parameters: [petId], get: paths['/pets/{petId}'].get },
  })
  const { checks } = await testApplication(application(), linked, { requests: 20 })
  return checks.find(({ check }) => check === 'created-is-readable')?.looked
}

t.test('a link is followed by operationId, and by operationRef with braces in either form', async (t) => {
  const expected = await looksByLink({ operationId: 'getPet' })
  t.ok(expected)
  for (const operationRef of ['#/paths/~1pets~1{petId}/get', '#/paths/~1pets~1%7BpetId%7D/get'])
    t.equal(await looksByLink({ operationRef }), expected, operationRef)
})
