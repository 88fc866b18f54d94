/** The rules of redocly.yaml that depend on two members of one node, which its declarative assertions cannot say. */
export default () => ({
  id: 'house',
  rules: {
    oas3: {
      'integer-has-a-format': () => ({
        Schema({ type, format }, { report }) {
          if ([type].flat().includes('integer') && !['int32', 'int64'].includes(format)) {
            report({ message: 'an integer says how wide it is: format int32 or int64' })
          }
        },
      }),
      'parameter-has-an-example': () => ({ Parameter: hasExample, Header: hasExample }),
    },
  },
})

function hasExample({ example, examples }, { report }) {
  if (example === undefined && examples === undefined) report({ message: 'a parameter or header has an example' })
}
