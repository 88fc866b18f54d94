/** Returns a document with script injections in its texts, and the name of each injection. */
export function withInjections(document: Record<string, unknown>) {
  const attacks: string[] = []
  const attack = (place: string) => {
    const name = `attack-${place}`
    attacks.push(name)
    const run = `top.attacked=[top.attacked]+'${name} '`
    return `<b class="${name}">a</b>

<iframe srcdoc="<script>${run}</script>"></iframe>
<iframe src="javascript:${run}"></iframe>
<object data="data:text/html,<script>${run}</script>"></object>
<svg onload="${run}"></svg>
<script>${run}</script>
<img src="https://attack.example/${name}" onerror="${run}">
<details open ontoggle="${run}"><summary onclick="${run}">a</summary></details>
<a href="javascript:${run}">a</a>
<form action="https://attack.example/${name}"><button>a</button></form>
<base href="https://attack.example/">
<link rel="stylesheet" href="https://attack.example/${name}.css">
<style>body { background: url(https://attack.example/${name}.png) }</style>

[a](javascript:${run}) ![a](https://attack.example/${name}.gif)

{% html name="iframe" attributes={srcdoc: "<script>${run}</script>"} /%}
`
  }
  // biome-ignore lint/suspicious/noExplicitAny: the members of a document have no types here
  const { info, tags, paths, components, ...rest } = document as any
  const title = `<img src=x onerror="top.attacked='title'"></title><script>top.attacked='title'</script>`
  info.title += title
  info.description += attack('info')
  info.contact = { name: title, url: "javascript:top.attacked='contact'" }
  tags[0].description += attack('tag')
  const { post } = paths['/plants']
  post.summary += title
  post.description += attack('operation')
  post.parameters = [{ name: 'a', in: 'query', description: attack('parameter'), schema: { type: 'string' } }]
  post.requestBody.content['application/json'].example.name = title
  post.responses['200'].description += attack('response')
  components.schemas.Error.description += attack('schema')
  components.schemas.Error.properties.message.description += attack('property')
  components.schemas.Error.properties.message.examples = [title]
  return { document: { info, tags, paths, components, ...rest }, attacks }
}

/**
 * Opens every menu entry and clicks all elements that the attacks added. Returns the names of the attacks on the page.
 * An entry counts as open when it shows an attack that no earlier entry has shown.
 */
export const clickEverything = `(async () => {
  const seen = new Set()
  const shown = () => [...document.querySelectorAll('[class^=attack-]')].map(({ className }) => className)
  const look = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 300)))
  const links = () => [...document.querySelectorAll('.menu-content a[href^="#/"]')].map((link) => link.hash)
  for (let tries = 0; tries < 100 && links().length === 0; tries++) await look()
  for (const link of links()) {
    location.hash = link
    for (let tries = 0; tries < 100 && shown().every((name) => seen.has(name)); tries++) await look()
    await look()
    for (const name of shown()) seen.add(name)
    for (const target of document.querySelectorAll('summary, form button, a[href^=javascript]')) target.click()
    await look()
  }
  return [...seen]
})()`
