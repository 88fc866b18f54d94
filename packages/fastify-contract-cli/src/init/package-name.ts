/** Returns a name for the package and its metrics, such as `pet-store` for "Pet Store!". */
export function packageName(title: string): string {
  const words =
    title
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[a-z\d]+/g) ?? []
  const name = words.join('-').slice(0, 60)
  return /^[a-z]/.test(name) ? name : `service-${name}`.replace(/-$/, '')
}
