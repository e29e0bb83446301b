// What handlers work with, wired once in main.ts.
export interface Services {
  readonly placeholder?: never
}
