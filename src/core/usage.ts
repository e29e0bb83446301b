// Counters per event subtype (US-1, US-2).
export interface Counter {
  allTime: number
}
