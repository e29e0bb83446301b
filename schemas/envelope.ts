// What lists, counts, deletions and references look like everywhere.

/** Answer of every `/count`. */
export interface Count {
  count: number
}

/** Answer of a deletion (AL-34). */
export interface Deleted {
  deleted: true
}

/** A resource named in passing. */
export interface PreviewObject {
  id: string
  name: string
  description: string | null
  image_url: string | null
}
