/** Maps the pointers of one document to another. The value of a pointer also applies to all pointers below it. */
export type PointerMap = { set(pointer: string, places: string[]): void; get(pointer: string): string[] }

/** Returns a map in which each pointer maps to itself until it is set. */
export function pointerMap(): PointerMap {
  const places = new Map<string, string[]>()
  return {
    set: (pointer, found) => places.set(pointer, found),
    get(pointer) {
      for (let above = pointer; above !== ''; above = above.slice(0, Math.max(above.lastIndexOf('/'), 0))) {
        const found = places.get(above)
        if (found !== undefined) return found.map((place) => place + pointer.slice(above.length))
      }
      return [pointer]
    },
  }
}
