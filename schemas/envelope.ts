// Shared forms of responses: counts, deletions, references.

/** Response of every `/count`. */
export interface Count {
  count: number
}

/** Response of a deletion (AL-34). */
export interface Deleted {
  deleted: true
}

/** A reference to a resource: id and name. */
export interface PreviewObject {
  id: string
  name: string
  description: string | null
  image_url: string | null
}
