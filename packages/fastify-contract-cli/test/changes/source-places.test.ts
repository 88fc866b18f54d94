import { join, relative } from 'node:path'
import t from 'tap'
import { sourcePlaces } from '../../src/changes/source-places.ts'

t.test('a pointer into the bundled document gives its source file and line', async (t) => {
  const directory = t.testdir({
    'root.yaml': `openapi: 3.1.0
paths:
  /plants:
    $ref: paths/plants.yaml
components:
  schemas:
    Tag:
      type: string
`,
    paths: {
      'plants.yaml': `post:
  requestBody:
    content:
      application/json:
        schema:
          $ref: ../schemas/Plant.yaml#/Plant
`,
    },
    schemas: {
      'Plant.yaml': `Plant:
  properties:
    name:
      $ref: '#/Name'
    more:
      $ref: '#/Plant'
Name:
  type: string
  externalDocs: { $ref: 'https://schemas.test/name' }
`,
    },
  })
  const root = join(directory, 'root.yaml')
  const placeOf = await sourcePlaces(root)
  const place = (pointer: string) => relative(directory, placeOf(pointer))
  t.equal(place('#/components/schemas/Tag/type'), 'root.yaml:8:13')
  t.equal(place('#/components/schemas/Tag/maxLength'), 'root.yaml:8:7')
  t.equal(place('#/paths/~1plants/post/requestBody'), 'paths/plants.yaml:3:5')
  t.equal(place('#/components/schemas/Plant/properties/name'), 'schemas/Plant.yaml:4:7')
  t.equal(place('#/components/schemas/Name/type'), 'schemas/Plant.yaml:8:9')
  t.equal(place('#/info'), 'root.yaml:1:1')
})
