// References between objects of a catalogue: names instead of ids. Names need not be unique, so the second of two
// objects with one name is `Name#2`, in the order of their creation (CA-3).

const numbered = /#([1-9][0-9]{0,5})$/

/** The reference of the n-th object with this name. A name that ends like a number itself is always numbered. */
function reference(name: string, n: number): string {
  return n === 1 && !numbered.test(name) ? name : `${name}#${n}`
}

/** A reference in the one form it has: `Pro#1` is `Pro`. */
export function canonicalReference(given: string): string {
  const n = numbered.exec(given)?.[1]
  return n === undefined ? given : reference(given.slice(0, -n.length - 1), Number(n))
}

/** The references of a list of named objects, in its order. */
export function referencesOf(names: readonly string[]): string[] {
  const seen = new Map<string, number>()
  return names.map(name => {
    const n = (seen.get(name) ?? 0) + 1
    seen.set(name, n)
    return reference(name, n)
  })
}

/** Ids and references of the objects of one kind. */
export class Index<Row extends { readonly id: string }> {
  private readonly rows = new Map<string, Row>()
  private readonly refs = new Map<string, string>()

  /** `rows` in the order of their creation. */
  constructor(rows: readonly Row[], nameOf: (row: Row) => string) {
    const refs = referencesOf(rows.map(nameOf))
    rows.forEach((row, i) => {
      this.rows.set(refs[i]!, row)
      this.refs.set(row.id, refs[i]!)
    })
  }

  /** The reference of an object. An id without object, e.g. of an archived plan, stands for itself. */
  refOf(id: string): string {
    return this.refs.get(id) ?? id
  }

  refOrNull(id: string | null): string | null {
    return id === null ? null : this.refOf(id)
  }

  rowOf(ref: string): Row | null {
    return this.rows.get(canonicalReference(ref)) ?? null
  }

  has(ref: string): boolean {
    return this.rows.has(canonicalReference(ref))
  }
}
