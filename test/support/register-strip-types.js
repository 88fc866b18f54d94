import { register } from 'node:module'

register('./strip-types.js', import.meta.url)
