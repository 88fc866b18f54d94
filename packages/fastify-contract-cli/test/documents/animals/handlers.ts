import { type Call, refused } from '../served-documents.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  async addAnimal({ body }) {
    // The discriminator tells the types apart.
    if (body.kind === 'cat') return { status: 200, body: `miaow ${body.lives}` }
    return { status: 200, body: ['woof', ...(body.tricks ?? [])].join(' ') }
  },
  async addCat({ body }) {
    // Outside of the union, a cat may have any kind.
    const kind: string = body.kind
    return { status: 200, body: kind }
  },
  async addVehicle({ body }) {
    return { status: 200, body: body.model === 'Car' ? { ...body, doors: body.doors + 1 } : body }
  },
  async listVehicles() {
    const vehicles = [
      { model: 'Car', doors: 4 },
      { model: 'bicycle', gears: 9007199254740993n },
    ]
    return { status: 200, body: vehicles }
  },
  async addShape({ body }) {
    const name: string = body.name
    if (body.kind === 'round') return { status: 200, body: { ...body, name, radius: body.radius + 1n } }
    return { status: 200, body: { ...body, side: body.side + body.corners } }
  },
  async addSquare({ body }) {
    const kind: 'square' = body.kind
    return body.name === kind ? { status: 204, body: undefined } : { status: 204, body: undefined }
  },
  async addSize({ body }) {
    if (typeof body === 'number') throw new Error('an int64 is a bigint')
    return { status: 204, body: undefined }
  },
}

const animal = (send: unknown) => ({ request: 'POST /animals', send })
const vehicle = (send: unknown) => ({ request: 'POST /vehicles', send })
const size = (send: unknown) => ({ request: 'POST /sizes', send })
const shape = (send: unknown) => ({ request: 'POST /shapes', send })
const square = { kind: 'square', name: 'a', corners: 4, side: 1 }

export const calls: Call[] = [
  { ...animal('{"kind":"cat","lives":9007199254740993}'), body: '"miaow 9007199254740993"' },
  { ...animal({ kind: 'Dog', tricks: ['sit'] }), body: '"woof sit"' },
  // The value matches one schema of the union and has the kind of another one.
  { ...animal({ kind: 'Dog', lives: 9 }), body: '"woof"' },
  { ...animal({ kind: 'Cat', lives: 9 }), ...refused },
  { ...animal({ kind: 'cat', tricks: ['sit'] }), ...refused },
  { ...animal({ kind: 'cow', lives: 9 }), ...refused },
  { ...animal({ lives: 9 }), ...refused },
  { request: 'POST /cats', send: { kind: 'cat', lives: 9 }, body: '"cat"' },
  { request: 'POST /cats', send: { kind: 'Dog', lives: 9 }, body: '"Dog"' },
  { request: 'POST /cats', send: { kind: 1, lives: 9 }, ...refused },
  { ...vehicle({ model: 'Car', doors: 4 }), body: '{"model":"Car","doors":5}' },
  { ...vehicle('{"model":"bicycle","gears":9007199254740993}'), body: { model: 'bicycle' } },
  { ...vehicle({ model: 'Bike', gears: 7 }), ...refused },
  { ...vehicle({ model: 'Car', gears: 7 }), ...refused },
  // The parent does not describe the properties of its children.
  { request: 'GET /vehicles', body: '[{"model":"Car","doors":4},{"model":"bicycle","gears":9007199254740993}]' },
  {
    ...shape('{"kind":"round","name":"a","radius":9007199254740993}'),
    body: '{"kind":"round","name":"a","radius":9007199254740994}',
  },
  { ...shape(square), body: { ...square, side: 5 } },
  { ...shape({ ...square, kind: 'round' }), ...refused },
  { ...shape({ ...square, name: undefined }), ...refused },
  { ...shape({ ...square, corners: undefined }), ...refused },
  { ...shape({ ...square, kind: 'other' }), ...refused },
  { request: 'POST /squares', send: square, status: 204 },
  { request: 'POST /squares', send: { ...square, name: undefined }, ...refused },
  { request: 'POST /squares', send: { ...square, kind: 'round' }, ...refused },
  { ...size('9007199254740993'), status: 204 },
  { ...size('"small"'), status: 204 },
  { ...size({ cm: 1.5 }), status: 204 },
  { ...size('1.5'), ...refused },
  { ...size('"medium"'), ...refused },
  { ...size({ cm: 1, inch: 1 }), ...refused },
]
